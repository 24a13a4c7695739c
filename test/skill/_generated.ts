import fc from 'fast-check'
import { stepNames } from '../../src/skill/declarations.ts'
import type { AllowedTool, ChainPolicy, ChainStep, SkillFields } from '../../src/skill/model.ts'

/** Text as an author may write it: quotes, colons, hashes, newlines, other scripts. */
export const anyText: fc.Arbitrary<string> = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        'a',
        'Use',
        ' ',
        ': ',
        ' #',
        '"',
        "'",
        '\\',
        '- ',
        '\n',
        '\t',
        '{',
        '[',
        '&x',
        '*',
      ),
      fc.constantFrom(
        'é',
        '数据',
        '😀',
        '\u2028',
        '\u0085',
        '\u007f',
        'null',
        'true',
        '1.0',
        '---',
        '%',
      ),
    ),
    { minLength: 1, maxLength: 12 },
  )
  .map((parts) => parts.join('').trim())
  .filter((text) => /[\p{L}\p{N}]/u.test(text))

const word = fc.stringMatching(/^[a-z][a-z0-9]{0,5}(-[a-z0-9]{1,4})?$/)
const words = fc.uniqueArray(word, { minLength: 1, maxLength: 4 })
const argumentName = fc
  .stringMatching(/^[A-Za-z_][A-Za-z0-9_-]{0,6}$/)
  .filter((it) => it !== 'ARGUMENTS')
const tool: fc.Arbitrary<AllowedTool> = fc.oneof(
  fc.stringMatching(/^[A-Z][a-z_:/.]{0,8}$/).map((name) => ({ tool: name })),
  fc
    .tuple(
      fc.stringMatching(/^[A-Z][a-z]{1,5}$/),
      fc.stringMatching(/^[a-z]{1,4}( [a-z]{1,3})?:\*$/),
    )
    .map(([name, pattern]) => ({ tool: name, pattern })),
)

const policy: fc.Arbitrary<ChainPolicy> = fc.record({
  async: fc.boolean(),
  continueOnError: fc.boolean(),
  timeout: fc.nat(100),
  maxDepth: fc.integer({ min: 1, max: 20 }),
  parallelLimit: fc.integer({ min: 1, max: 20 }),
  validateOnLoad: fc.boolean(),
  cleanupAfter: fc.boolean(),
  earlyExitOn: fc.constantFrom('none', 'failure', 'success', 'critical'),
  continueOnSuccess: fc.boolean(),
  passState: fc.boolean(),
  retryCount: fc.integer({ min: 1, max: 9 }),
  retryUntil: fc.constantFrom('none', 'stable', 'success'),
  raceMode: fc.boolean(),
})

const metadataKey = fc.stringMatching(/^[a-z][a-z0-9_.-]{0,6}$/).map((key) => `own-${key}`)

const optional = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(value, { nil: undefined })

const flag = fc.constant(true as const)
const stepOptions = fc.record(
  {
    retry: fc.integer({ min: 1, max: 1000 }),
    timeout: fc.integer({ min: 1, max: 1000 }),
    gate: flag,
    allowFailure: flag,
    always: flag,
    args: anyText.filter((text) => !/[\p{Cc}\u2028]/u.test(text)),
    isJoined: flag,
    isConditional: flag,
  },
  { requiredKeys: [] },
)

type StepChoice = typeof stepOptions extends fc.Arbitrary<infer Choice> ? Choice : never

/** Steps as a reading gives them: the number of a group is that of its line. */
function stepsWith(names: readonly string[], given: readonly StepChoice[]): ChainStep[] {
  const plain = names.every((name) => /^[^\s,&"#=]+$/.test(name))
  const labels = stepNames(names.map((name) => ({ name })))
  let line = 0
  const lines = given.map(({ isJoined }) =>
    plain && isJoined === true && line > 0 ? line : ++line,
  )
  return names.map((name, index) => {
    const { isJoined: _joined, isConditional, ...options } = given[index] ?? {}
    const isGroup = lines.filter((one) => one === lines[index]).length > 1
    const before = labels[lines.indexOf(lines[index] ?? 0) - 1]
    return {
      name,
      line: 0,
      ...options,
      ...(isConditional === true && before !== undefined ? { when: `${before}.success` } : {}),
      ...(isGroup ? { group: lines[index] ?? 0 } : {}),
    }
  })
}

/** Fields as a reading gives them. */
export const anyFields: fc.Arbitrary<SkillFields> = fc.record({
  name: word,
  description: anyText,
  license: optional(anyText),
  compatibility: optional(anyText),
  metadata: fc.dictionary(metadataKey, anyText, { maxKeys: 3 }),
  allowedTools: optional(fc.array(tool, { minLength: 1, maxLength: 3 })),
  triggers: fc.array(fc.record({ match: anyText, inject: word, line: fc.constant(0) }), {
    maxLength: 3,
  }),
  chain: optional(
    words.chain((names) =>
      fc.record({
        steps: fc
          .array(stepOptions, { minLength: names.length, maxLength: names.length })
          .map((options) => stepsWith(names, options)),
        policy,
        gates: fc.subarray(names),
        line: fc.constant(0),
      }),
    ),
  ),
  run: optional(word.map((name) => `scripts/${name}`)),
  sandbox: optional(fc.constant(true as const)),
  model: optional(anyText),
  context: optional(fc.constant('fork' as const)),
  agent: optional(anyText),
  disableModelInvocation: fc.boolean(),
  userInvocable: fc.boolean(),
  argumentHint: optional(anyText),
  arguments: fc.uniqueArray(argumentName, { maxLength: 3 }),
  hooks: optional(fc.dictionary(metadataKey, anyText, { minKeys: 1, maxKeys: 2 })),
})
