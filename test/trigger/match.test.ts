import { describe, expect, it } from 'vitest'
import { matchPrompt, type TriggerSkill } from '../../src/trigger/match.ts'

function skill(name: string, ...matches: string[]): TriggerSkill {
  return {
    name,
    directory: `/skills/${name}`,
    path: `/skills/${name}/SKILL.md`,
    triggers: matches.map((match, index) => ({
      match,
      inject: `${index}.md`,
      line: 5 + 2 * index,
    })),
  }
}

/** `skill:file` of every trigger that fires. */
function fired(prompt: string, ...skills: TriggerSkill[]): string[] {
  return matchPrompt(prompt, skills).matches.map((one) => `${one.skill.name}:${one.trigger.inject}`)
}

describe('a prompt', () => {
  it('fires triggers that match any of its lines, in the order of skills and triggers', () => {
    const two = skill('two', 'staging', '^/deploy', 'nothing')
    const one = skill('one', '^/deploy (staging|production)')
    expect(fired('/deploy staging', two, one)).toEqual(['two:0.md', 'two:1.md', 'one:0.md'])
    expect(fired('hello\n/deploy staging', one, two)).toEqual(['one:0.md', 'two:0.md', 'two:1.md'])
  })

  it.each([
    ['a text', 'now$'],
    ['an expression', '[n]ow$'],
    ['a text that the quick look needs', 'then now( or never)*$'],
    ['a pattern for the RE2 library', '(?i)NOW$'],
  ])('is matched by %s in its first matching line', (_what, match) => {
    const { matches } = matchPrompt('now and\nthen now\nthen now', [skill('one', match)])
    const [found] = matches
    expect(matches).toHaveLength(1)
    expect(found).toMatchObject({ promptLine: 2, trigger: { match, line: 5 } })
    expect('then now'.endsWith(found?.text ?? '-')).toBe(true)
  })

  it('reports the text on which a trigger fired', () => {
    const { matches } = matchPrompt('x\nplease deploy api to staging', [
      skill('one', 'deploy', 'deploy .*to', '[a-z]+$', 'd.*o.*a', '(?i)API'),
    ])
    expect(matches.map(({ text, promptLine }) => `${promptLine}: ${text}`)).toEqual([
      '2: deploy',
      '2: deploy api to',
      '1: x',
      '2: deploy api to sta',
      '2: api',
    ])
  })

  it.each([
    ['/deploy', '^/deploy now( or never)*', []],
    ['/deploy now', '^/deploy now( or never)*', ['one:0.md']],
    ['deploy the api now', '(deploy|release) .*now', ['one:0.md']],
    ['deploy the api', '(deploy|release) .*now', []],
    ['release it now', '(deploy|release) .*now', ['one:0.md']],
    ['roll it out now', '(deploy|release) .*now', []],
    ['wolped', 'deploy', []],
    ['de\nploy', 'deploy', []],
    ['dep loy depl oy', 'deploy', []],
    ['', 'deploy', []],
    ['', '', []],
    ['\n', '^$', ['one:0.md']],
    ['x', '^$', []],
    ['x\n', '^$', ['one:0.md']],
    ['a', 'a', ['one:0.md']],
    ['xyz', 'xyz', ['one:0.md']],
    ['zz', 'a', []],
  ])('fires by its text: %j with the pattern %j injects %j', (prompt, match, expected) => {
    expect(fired(prompt, skill('one', match))).toEqual(expected)
  })

  it('has a diagnostic for every refused pattern, whatever the prompt is', () => {
    const { matches, diagnostics } = matchPrompt('hello', [
      skill('one', 'hello', 'bye bye (', 'a**'),
    ])
    expect(matches).toHaveLength(1)
    expect(diagnostics).toMatchObject([
      { code: 'pattern-invalid', path: '/skills/one/SKILL.md', line: 7 },
      { code: 'pattern-invalid', path: '/skills/one/SKILL.md', line: 9 },
    ])
  })
})
