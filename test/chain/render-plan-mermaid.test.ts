import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type PlannedChain, renderPlanMermaid } from '../../src/chain/plan-model.ts'
import { chain, task } from './_plans.ts'

const digest = `sha256:c0ffee12${'0'.repeat(56)}`
const render = (root: PlannedChain, skill = 'main'): string =>
  renderPlanMermaid({ skill, digest, policy: root.policy, steps: root.steps })
const lines = (root: PlannedChain): string[] =>
  render(root)
    .trimEnd()
    .split('\n')
    .map((line) => line.trim())

describe('a node of the flowchart', () => {
  it.each([
    ['a script', { script: 'scripts/run.sh' }, 'script scripts/run.sh'],
    ['a client', { executor: 'agent', client: 'claude' }, 'client claude'],
    ['a model', { executor: 'model', model: 'openai:gpt-5' }, 'model openai#58;gpt-5'],
    ['reports', { executor: 'driven' }, 'instructions, done by an agent that reports'],
    ['nothing', { executor: 'none' }, 'instructions, and nothing executes them'],
  ] as const)('says that %s executes the step', (_what, executor, words) => {
    const step = task('unit', { ...executor, digest, tokens: 12, trust: 'untrusted' })
    expect(lines(chain([step]))).toContain(
      `s1["unit<br/>${words}<br/>untrusted, c0ffee12, 12 tokens"]`,
    )
  })

  it('shows a check, a gate, a sandbox, an exclusion and unsupported fields', () => {
    const facts = { verify: 'scripts/verify.sh', gate: true, sandboxed: true } as const
    const step = task('unit#2', {
      ...facts,
      executor: 'agent',
      client: 'codex',
      digest,
      excluded: true,
      notHonoured: ['allowed-tools', 'model'],
    })
    const drawn = lines(chain([task('a', { digest }), step]))
    expect(drawn.find((line) => line.startsWith('s2['))).toBe(
      's2["unit#35;2<br/>client codex<br/>trusted, c0ffee12, 1 tokens' +
        '<br/>gate, verified, sandbox, left out, without allowed-tools and model"]',
    )
    expect(drawn.slice(-2)).toEqual([
      'classDef leftOut stroke-dasharray:4 4,opacity:0.5',
      'class s2 leftOut',
    ])
  })

  it('says that a step has no skill', () => {
    const step = task('gone', { executor: 'missing', digest: '', tokens: 0 })
    expect(lines(chain([step]))).toContain('s1["gone<br/>no such skill<br/>trusted, 0 tokens"]')
  })
})

it('draws each chain as a box with its policy, and arrows only between ordered steps', () => {
  const nested = chain([task('n/a'), task('n/b')], { async: true, parallelLimit: 2 }, 'n')
  const root = chain([task('x'), { ...nested, digest, gate: true }], { retryUntil: 'success' })
  expect(lines(root)).toEqual([
    'flowchart LR',
    'subgraph s0["main, plan c0ffee12, retry_until=success"]',
    's1["x<br/>script <br/>trusted, x, 1 tokens"]',
    'subgraph s2["n, chain, trusted, c0ffee12, 1 tokens, gate, async=true, parallel_limit=2"]',
    's3["a<br/>script <br/>trusted, n/a, 1 tokens"]',
    's4["b<br/>script <br/>trusted, n/b, 1 tokens"]',
    'end',
    's1 --> s2',
    'end',
  ])
})

/** Everything that a picture may consist of; `LABEL` holds no mark that Mermaid acts on. */
const grammar =
  /^(?:flowchart LR|(?:subgraph )?s\d+\["LABEL(?:<br\/>LABEL)*"\]|end|s\d+ --> s\d+|classDef leftOut [a-z0-9:,. -]+|class s\d+(?:,s\d+)* leftOut)$/
const label = String.raw`(?:[\p{L}\p{N}\p{M} _.,/=-]|#\d+;)*`
const allowed = new RegExp(grammar.source.replaceAll('LABEL', label), 'u')

describe('a name in an untrusted skill', () => {
  it.each([
    ['"] --> evil["'],
    ['a\nend\nclick s1 "javascript:alert(1)"'],
    ['<img src=x onerror=alert(1)>'],
    ['#quot;]'],
    ['&quot;'],
    ['`**bold**`'],
    ['$$x$$'],
    ['%%{init: {"theme": "x"}}%%'],
    ['style:#35;'],
    ['fa:fa-car'],
    ['end'],
    ['1. first'],
    ['- item'],
    ['_x_'],
    ['\u{202e}gnp.exe\u{1b}[31m'],
    ['ﬂ°°60¶ß'],
    ['[x](y) {z} |w| (v)'],
    [''],
  ])('stays a name: %j', (name) => {
    const nested = chain([task(name, { script: name })], {}, name)
    for (const line of render(chain([nested]), name)
      .trimEnd()
      .split('\n')) {
      expect(line.trim()).toMatch(allowed)
    }
  })

  it('stays a name for any characters', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string(), (name, other) => {
        const root = chain([
          task(name, { script: other, excluded: true }),
          chain([task(other, { executor: 'model', model: name })], {}, name),
        ])
        const drawn = render(root, other).trimEnd().split('\n')
        expect(drawn).toHaveLength(10)
        expect(drawn.filter((line) => !allowed.test(line.trim()))).toEqual([])
      }),
    )
  })

  it('can be read as it was written', () => {
    const [, , drawn = ''] = lines(chain([task('say "hi" <#1>', { digest })]))
    const read = drawn.replace(/#(\d+);/g, (_, code) => String.fromCodePoint(Number(code)))
    expect(read).toContain('say "hi" <#1>')
  })
})
