import type { ShownErrors } from '../answers/run.ts'
import { type Child, make } from './elements.ts'
import { count } from './parts.ts'

/** What is wrong with a step or an attempt, below a title where it has one; nothing where nothing is. */
export function errorList({ errors, moreErrors }: ShownErrors, title?: string): Child {
  if (errors.length === 0) return undefined
  return [
    title === undefined ? undefined : make('h3', {}, title),
    make(
      'ul',
      { class: 'plain' },
      errors.map(({ code, message }) =>
        make('li', {}, make('code', { class: 'bad' }, code), ' ', message),
      ),
      moreErrors === 0 ? undefined : make('li', { class: 'soft' }, `and ${count(moreErrors)} more`),
    ),
  ]
}
