import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fieldsOf } from './_fields-of.ts'

function stepsOf(lines: readonly string[], before = '|') {
  const source = ['metadata:', `  chain: ${before}`, ...lines.map((line) => `    ${line}`)].join(
    '\n',
  )
  const { fields, diagnostics } = fieldsOf(source)
  const found = diagnostics.map(({ code, line, message }) => ({ code, line, message }))
  return { steps: fields.chain?.steps ?? [], found }
}

describe('the steps of a chain, one a line', () => {
  it('have options after their names', () => {
    const { steps, found } = stepsOf([
      'build',
      '',
      '# what can run at once',
      'lint & unit retry=3 backoff=0.5 & e2e   # in parallel',
      'stage timeout=300 args="--to \\"a b\\" #1" gate',
      'publish id=release when=stage.success allow-failure',
      'cleanup always when=!release.skipped',
    ])
    expect(found).toEqual([])
    expect(steps).toEqual([
      { name: 'build', line: 4 },
      { name: 'lint', line: 7, group: 4 },
      { name: 'unit', line: 7, group: 4, retry: 3, backoff: 0.5 },
      { name: 'e2e', line: 7, group: 4 },
      { name: 'stage', line: 8, timeout: 300, gate: true, args: '--to "a b" #1' },
      { name: 'publish', line: 9, id: 'release', when: 'stage.success', allowFailure: true },
      { name: 'cleanup', line: 10, when: '!release.skipped', always: true },
    ])
  })

  it('are written as the same text in any order of options', () => {
    const options = ['id=a', 'retry=3', 'backoff=1', 'timeout=2', 'gate', 'always', 'args=b']
    const text = (words: string[]) => JSON.stringify(stepsOf([`unit ${words.join(' ')}`]))
    expect(text(options.toReversed())).toBe(text(options))
    expect(Object.keys(stepsOf(['unit gate allow-failure retry=2']).steps[0] ?? {})).toEqual(
      'name line retry gate allowFailure'.split(' '),
    )
  })

  it.each([
    ['strings', '- unit retry=2 gate & "lint"'.replaceAll('"', '')],
    ['strings in quotes', '- "unit retry=2 gate & lint"'],
  ])('are read alike from a list of %s', (_what, item) => {
    const { steps, found } = stepsOf([item], '')
    expect(found.filter(({ code }) => code !== 'metadata-nested-extension')).toEqual([])
    expect(steps).toEqual([
      { name: 'unit', line: 4, retry: 2, gate: true, group: 1 },
      { name: 'lint', line: 4, group: 1 },
    ])
  })

  it('can be maps in a list too', () => {
    const { steps } = stepsOf(
      ['- unit: { retry: 2, gate: true, always: false, args: "a b" }', '- "my skill": {}'],
      '',
    )
    expect(steps).toEqual([
      { name: 'unit', line: 4, retry: 2, gate: true, args: 'a b' },
      { name: 'my skill', line: 5 },
    ])
  })

  it('keep the options that a rail enforces, as text or as a map', () => {
    const wanted = {
      gate: 'attended',
      check: 'npm test -- "a b"',
      maxBlocks: 0,
      tools: 'Read Bash(git:*)',
      guard: 'Bash(git push:*)',
    }
    const asText =
      'ship gate=attended check="npm test -- \\"a b\\"" max-blocks=0 tools="Read Bash(git:*)" guard="Bash(git push:*)"'
    const asMap =
      "- ship: { gate: attended, check: 'npm test -- \"a b\"', max-blocks: 0, tools: 'Read Bash(git:*)', guard: 'Bash(git push:*)' }"
    for (const { steps, found } of [stepsOf(['plan', asText]), stepsOf(['- plan', asMap], '')]) {
      expect(found.filter(({ code }) => code !== 'metadata-nested-extension')).toEqual([])
      expect(steps[1]).toMatchObject(wanted)
    }
  })

  it('keep the documented form in any other text', () => {
    for (const text of ['"a, b c"', 'a b c', '>\n    a\n    b, c']) {
      const { fields } = fieldsOf(`metadata:\n  chain: ${text}`)
      expect(fields.chain?.steps.map(({ name }) => name)).toEqual(['a', 'b', 'c'])
    }
  })

  it('can share names', () => {
    const { found } = stepsOf(['a', 'a', 'b when=a#2.success', 'a id=last', 'c when=last.failure'])
    expect(found).toEqual([])
  })

  it.each([
    ['a retries=3', 'chain-step-form', '`retries` is not an option of a step.'],
    ['a gate gate', 'chain-step-form', '`gate` is given twice.'],
    ['a gate=yes', 'chain-step-form', '`gate` takes no value, or is `attended` or `signed`.'],
    ['a check', 'chain-step-form', '`check` is a shell command.'],
    ['a check=""', 'chain-step-form', '`check` is a shell command.'],
    ['a check=x max-blocks=-1', 'chain-step-form', '`max-blocks` is a number of failed checks'],
    ['a tools="Bash(git"', 'chain-step-form', '`tools` lists tools'],
    ['a guard=" "', 'chain-step-form', '`guard` lists tools'],
    ['a retry', 'chain-step-form', '`retry` is a number of attempts from 1 to 1000.'],
    ['a retry=0', 'chain-step-form', '`retry` is a number of attempts from 1 to 1000.'],
    ['a retry=1e3', 'chain-step-form', '`retry` is a number of attempts from 1 to 1000.'],
    ['a timeout=0.0', 'chain-step-form', '`timeout` is a number of seconds above 0.'],
    ['a retry=2 backoff=-1', 'chain-step-form', '`backoff` is a number of seconds.'],
    ['a when=b', 'chain-step-form', '`when` is STEP.STATE or !STEP.STATE'],
    ['a when=b.done', 'chain-step-form', '`when` is STEP.STATE or !STEP.STATE'],
    ['a id=x/y', 'chain-step-form', '`id` is letters, digits'],
    ['a backoff=3', 'chain-step-form', '`a` has `backoff` without `retry`.'],
    ['a args="x', 'chain-step-form', 'has an open quote.'],
    ['a args=-x"y"', 'chain-step-form', 'is only partly in quotes.'],
    ['retry=3 a', 'chain-step-form', 'does not name a skill.'],
    ['a &', 'chain-step-form', 'does not name a skill.'],
    ['& a', 'chain-step-form', 'does not name a skill.'],
    ['"a b"', 'chain-step-form', 'does not name a skill.'],
    ['a & b when=a.success', 'chain-when-unknown', '`when` names `a`'],
    ['b when=b.success', 'chain-when-unknown', '`when` names `b`'],
    ['b when=later.success', 'chain-when-unknown', '`when` names `later`'],
    ['b gate rework=later', 'chain-rework', '`rework` names `later`'],
    ['b gate rework=b', 'chain-rework', '`rework` names `b`'],
    ['b gate rework=nowhere', 'chain-rework', '`rework` names `nowhere`'],
    ['b gate rework=first/inner', 'chain-rework', '`rework` names `first/inner`'],
    ['b & c gate rework=b', 'chain-rework', '`rework` names `b`'],
    ['b rework=first', 'chain-rework', '`b`: `rework` needs a gate'],
    ['b gate rework', 'chain-step-form', '`rework` is the name of a step'],
    ['first id=first', 'chain-step-form', 'Two steps have the name `first`.'],
    ['../a', 'chain-step-name', 'is not beside or below'],
  ])('are errors with their line: %s', (line, code, message) => {
    const { found } = stepsOf(['first', line, 'later'])
    expect(found).toContainEqual({ code, line: 5, message: expect.stringContaining(message) })
  })
})

it('lets a step lead back to an earlier line by its name, with a gate of either form', () => {
  const lines = ['first id=work', 'lint & unit', 'publish gate rework=work', 'e2e gate rework=unit']
  const { steps, found } = stepsOf(lines)
  expect(found).toEqual([])
  expect(steps.map(({ rework }) => rework)).toEqual([
    undefined,
    undefined,
    undefined,
    'work',
    'unit',
  ])
  const source = ['metadata:', '  chain: |', '    a', '    b rework=a', '  gates: b'].join('\n')
  expect(fieldsOf(source).diagnostics).toEqual([])
})

it('reads any text as steps or errors', () => {
  const piece = fc.constantFrom(
    'a',
    ' ',
    '&',
    '"',
    '\\',
    '#',
    '=',
    'retry',
    'args=',
    'é',
    '\t',
    '/',
    '.',
  )
  fc.assert(
    fc.property(
      fc.array(
        fc.array(piece).map((parts) => parts.join('')),
        { maxLength: 5 },
      ),
      (lines) => {
        const { steps, found } = stepsOf(['first', ...lines])
        expect(steps[0]?.name ?? found.length > 0).toBeTruthy()
      },
    ),
    { numRuns: 500 },
  )
})

describe('keys beside a chain', () => {
  const codes = (key: string) =>
    fieldsOf(`metadata:\n  chain: a\n  ${key}: x`).diagnostics.map(({ code, hint }) => [code, hint])

  it.each([
    'approval',
    'human_gate',
    'parallel',
    'retries',
    'retry',
    'max-retries',
    'on_error',
    'stepTimeout',
    'depends_on',
    'needs',
    'if',
  ])('are errors if other engines use them for control flow: %s', (key) => {
    expect(codes(key)).toEqual([['chain-control-key', expect.stringMatching(/^Say it with /)]])
  })

  it('are warnings if they mean nothing, with the nearest known key', () => {
    expect(codes('retry_cout')).toEqual([['chain-unknown-key', 'Did you mean retry_count?']])
    expect(codes('colour')).toEqual([['chain-unknown-key', undefined]])
  })

  it("can be keys of the author's metadata", () => {
    for (const key of ['author', 'version', 'license', 'tags']) expect(codes(key)).toEqual([])
  })
})
