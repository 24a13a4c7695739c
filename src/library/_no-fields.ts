import type { SkillFields } from '../skill/index.ts'

const none: readonly never[] = Object.freeze([])
const bare: Record<string, string> = Object.create(null)

/** A frontmatter in which nothing is set. Shared: ten thousand skills keep one empty list. */
export const noFields: SkillFields = Object.freeze({
  name: undefined,
  description: undefined,
  license: undefined,
  compatibility: undefined,
  metadata: Object.freeze(bare),
  allowedTools: undefined,
  triggers: none,
  chain: undefined,
  run: undefined,
  model: undefined,
  context: undefined,
  agent: undefined,
  disableModelInvocation: false,
  userInvocable: true,
  argumentHint: undefined,
  arguments: none,
  hooks: undefined,
})
