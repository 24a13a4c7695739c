import { rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { describe, expect, it } from 'vitest'
import { compilePattern } from '../../src/trigger/pattern.ts'
import { matchPrompt } from '../../src/trigger/match.ts'
import { planInjection, renderInjection } from '../../src/trigger/inject.ts'
import { readPortableTriggers, readTriggers } from '../../src/trigger/read-triggers.ts'
import { makeFixture, referenceCases } from './_reference-cases.ts'
import { installScript, runScript, type ShellSetup } from './_shells.ts'

/** The exported script and the library have the same answers, whatever runs the script. */
export function describeScript(
  setup: ShellSetup & { missing?: boolean; bytesOnly?: boolean },
): void {
  const reason = setup.missing === true ? ' (not installed here)' : ''
  describe.skipIf(setup.missing)(`the exported script under ${setup.name}${reason}`, () => {
    it.each(
      [...portable, ...own].filter(
        (one) => !(setup.bytesOnly === true && one.name === 're-unicode-dot'),
      ),
    )('answers as the library does: $name', (one) => {
      const directory = makeFixture(one.frontmatter)
      const expected = libraryAnswer(directory, one)
      const { stdout, status } = runScript(setup, installScript(directory), one.prompt)
      rmSync(dirname(dirname(directory)), { recursive: true })
      expect({ stdout, status }).toEqual({ stdout: expected, status: 0 })
    })

    it('reads the prompt from an argument too, and reports an unreadable file', () => {
      const directory = makeFixture(
        frontmatter('-n x', 'references/a.md\n  - match: [flow]\n    inject: references/b.md'),
      )
      const script = installScript(directory)
      const { stdout, stderr } = runScript(setup, script, '-n x', 'argument')
      rmSync(dirname(dirname(directory)), { recursive: true })
      expect(stdout).toBe('<!-- injected: references/a.md -->\nREF-A\n\n')
      expect(stderr).toContain('line 7: the triggers from here on are not in the portable format')
    })
  })
}

/** Recorded runs whose triggers and patterns are portable, and prompts that broke the original. */
const portable = (referenceCases?.cases ?? []).filter(({ frontmatter }) => {
  const reading = readPortableTriggers(frontmatter)
  const compiled = reading.portable
    ? reading.triggers.map(({ match }) => compilePattern(match))
    : []
  return reading.portable && compiled.every((one) => one.ok && one.pattern.notes.length === 0)
})

const frontmatter = (match: string, inject = 'references/a.md'): string =>
  `---\nname: t\ndescription: x\ntriggers:\n  - match: "${match}"\n    inject: ${inject}\n---\n# body\n`
const own = [
  {
    name: 'a prompt of 1 MiB with the match first',
    frontmatter: frontmatter('^needle'),
    prompt: `needle\n${'filler line\n'.repeat(90_000)}`,
  },
  {
    name: 'a line of 1 MiB',
    frontmatter: frontmatter('needle$'),
    prompt: `${'x'.repeat(1024 * 1024)} needle`,
  },
  { name: 'a pattern that begins with a dash', frontmatter: frontmatter('-v'), prompt: 'zzz' },
  { name: 'a pattern that is an option', frontmatter: frontmatter('--help'), prompt: 'say --help' },
  { name: 'a prompt that begins with -n', frontmatter: frontmatter('-n'), prompt: '-n' },
  { name: 'CRLF in the prompt', frontmatter: frontmatter('alpha$'), prompt: 'alpha\r\nmore' },
  { name: 'a CR that ends the prompt', frontmatter: frontmatter('alpha$'), prompt: 'alpha\r' },
  {
    name: 'CRLF in the file',
    frontmatter: frontmatter('alpha').replaceAll('\n', '\r\n'),
    prompt: 'alpha',
  },
  {
    name: 'a trigger on a tool before another one',
    frontmatter: frontmatter(
      'alpha',
      'references/a.md\n  - tool: mcp__a__b\n    inject: references/a.md\n  - match: beta\n    inject: references/b.md',
    ),
    prompt: 'beta',
  },
  { name: 'an empty prompt', frontmatter: frontmatter('^$'), prompt: '' },
  { name: 'line ends at the end', frontmatter: frontmatter('^$'), prompt: 'x\n' },
  { name: 'a traversal', frontmatter: frontmatter('t', '../other/secret.md'), prompt: 't' },
  { name: 'an absolute path', frontmatter: frontmatter('t', '/etc/hostname'), prompt: 't' },
  { name: 'a link out', frontmatter: frontmatter('t', 'references/link.md'), prompt: 't' },
  { name: 'a binary', frontmatter: frontmatter('t', 'references/nul.bin'), prompt: 't' },
  { name: 'a directory', frontmatter: frontmatter('t', 'references'), prompt: 't' },
  {
    name: 'a file twice',
    frontmatter: frontmatter('t', 'references/a.md\n  - match: t\n    inject: ./references/a.md'),
    prompt: 't',
  },
  {
    name: 'quotes and backslashes',
    frontmatter: frontmatter('say \\"hi\\" a\\\\.b'),
    prompt: 'say "hi" a.b',
  },
  {
    name: 'dollars and backticks in the prompt',
    frontmatter: frontmatter('x'),
    prompt: '$(touch /tmp/owned) `id` x \\n %s',
  },
]

function libraryAnswer(directory: string, one: { frontmatter: string; prompt: string }): string {
  const path = `${directory}/SKILL.md`
  const { triggers } = readTriggers(one.frontmatter, path)
  const { matches } = matchPrompt(one.prompt, [{ name: 't', path, directory, triggers }])
  return renderInjection(planInjection(matches).injected)
}
