import type { RequiredText } from './_required-text.ts'

/**
 * How a pattern is tested, as data that can be kept in an index and used without parsing again.
 *
 * `text` needs no expression at all. `javascript` is proven to be linear and to mean the same; `test`
 * may find less text than `find`, which is there where it is proven to be linear as well. `re2` is
 * compiled when it is first tested. `required` says what the prompt must contain.
 */
export type PatternPlan =
  | { engine: 'text'; text: string; atStart: boolean; atEnd: boolean }
  | { engine: 'javascript'; test: string; find: string | undefined; required: RequiredText }
  | { engine: 're2'; source: string; required: RequiredText }
