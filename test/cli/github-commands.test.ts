import { expect, it } from 'vitest'
import fc from 'fast-check'
import { withoutCommands } from '../../src/cli/terminal.ts'
import { jsonText, withoutGithubCommands } from '../../src/core/text.ts'
import { makeProject } from '../chain/_project.ts'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { bin } from '../command-line.ts'

/** As the runner of GitHub Actions decides it. */
function isCommand(line: string): boolean {
  return line.trimStart().startsWith('::') || line.includes('##[')
}

const commandsIn = (text: string): string[] => text.split(/\r\n|\r|\n/).filter(isCommand)

function written(parts: readonly string[]): string {
  let all = ''
  const sink = {
    isTerminal: false,
    columns: undefined,
    write: (text: string) => void (all += text),
  }
  const guarded = withoutCommands(sink)
  for (const part of parts) guarded.write(part)
  return all
}

const piece = fc.constantFrom(
  ':',
  '::',
  '#',
  '##',
  '[',
  ' ',
  '\t',
  '\n',
  '\r',
  'a',
  '\u2028',
  '::error::x',
)

it('no text becomes a workflow command, in however many writes, and only blanks are added', () => {
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (parts) => {
      const text = written(parts)
      expect(commandsIn(text)).toEqual([])
      expect(commandsIn(withoutGithubCommands(parts.join('')))).toEqual([])
      expect(text.replaceAll(/\s/g, '')).toBe(parts.join('').replaceAll(/\s/g, ''))
    }),
    { numRuns: 2000 },
  )
})

it('JSON keeps its value, without characters that control a terminal or a runner', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.string({ unit: 'binary' }), piece)), (value) => {
      const text = jsonText(value)
      expect(JSON.parse(text)).toEqual(value)
      expect(text).not.toMatch(/[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]|##\[/)
    }),
  )
  expect(jsonText({ a: '\u009b2J\u202e' })).toBe('{"a":"\\u009b2J\\u202e"}')
})

it('a script forges no command in any output of a run', () => {
  const forged = '::error::forged\\n  ::warning::forged\\nx ##[error]forged\\r::notice::forged'
  const project = makeProject({
    main: { metadata: ['chain: [says, fails]'] },
    says: { run: `printf '${forged}\\n'; printf '${forged}\\n' >&2` },
    fails: { run: `printf '${forged}\\n'; printf '${forged}\\n' >&2; exit 1` },
    '--error': {},
  })
  const lines = [
    ['run', 'main', '--report', 'github=-'],
    ['run', 'main', '--verbose'],
    ['run', 'main', '--events'],
    ['run', 'main', '--json'],
    ['runs', 'list'],
    ['run', 'main', '--report', 'junit=-'],
    ['list'],
    ['run', '::error::forged'],
    ['show', 'main'],
  ]
  try {
    for (const words of lines) {
      const { stdout, stderr } = spawnSync(process.execPath, [bin, '--trust-workspace', ...words], {
        cwd: project.directory,
        env: {
          PATH: process.env['PATH'],
          HOME: join(project.directory, '../home'),
          GITHUB_ACTIONS: 'true',
        },
        encoding: 'utf8',
      })
      expect([words, commandsIn(stdout), commandsIn(stderr)]).toEqual([words, [], []])
    }
  } finally {
    project.remove()
  }
})
