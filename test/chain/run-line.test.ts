import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { runLines } from '../../src/chain/run-line.ts'
import { runCommand, type CommandAnswer, type CommandFixture } from './_command.ts'
import { log, makeProject, type TestProject } from './_project.ts'

let project: TestProject
beforeEach(() => {
  project = makeProject({
    main: { metadata: ['chain: [build, deploy]', 'gates: deploy'] },
    build: log('build'),
    deploy: log('deploy'),
    talk: { metadata: ['chain: [ask, ask]'] },
    ask: { body: 'Ask $ARGUMENTS.' },
    bad: { run: 'exit 1' },
  })
})
afterEach(() => project.remove())

const secret = `--token=ghp_${'a'.repeat(36)}`
const argumentsAgain = 'Its arguments contained a secret: add -- and the same ones again.'

async function command(
  name: string,
  words: readonly string[],
  fixture: CommandFixture = {},
): Promise<CommandAnswer & { text: string }> {
  const answer = await runCommand(name, words, project, fixture)
  return { ...answer, text: answer.lines.join('\n') }
}

const runIdIn = (text: string): string => /(?:run|approve|next) (0\w{13})/.exec(text)?.[1] ?? ''

it.each([
  ['runs resume', [], `skillrail runs resume 0a -C '/my place' --grant 'read:/a b'`],
  ['runs reject', [], `skillrail runs reject 0a -C '/my place'`],
  [
    'chain report',
    ['--step', 'a#2'],
    `skillrail chain report 0a --step 'a#2' -C '/my place' --grant 'read:/a b'`,
  ],
] as const)(
  'writes the command %s with the options that it needs, each as one shell word',
  (name, more, line) => {
    const lines = runLines({ place: ['-C', '/my place'], rights: ['--grant', 'read:/a b'] })
    expect(lines(name, '0a', more)).toBe(line)
  },
)

describe('the command that continues a run', () => {
  it('repeats the trust of a waiting run, and works unchanged', async () => {
    const { text } = await command('run', ['main', '--trust-workspace'])
    const run = runIdIn(text)
    expect(text).toContain(
      `Continue: skillrail runs approve ${run} --trust-workspace  (or: skillrail runs reject ${run})`,
    )
    expect(
      await command('runs approve', [run, '--trust-workspace'], { answer: 'y' }),
    ).toMatchObject({ code: 0 })
  })

  it.each([
    ['run', ['bad']],
    ['chain start', ['talk']],
  ])('names the place and the rights for %s', async (name, words) => {
    const { text } = await command(name, [...words, '--trust-workspace', '-C', '.'])
    expect(text).toMatch(
      /skillrail (?:runs retry|chain report) 0\w{13} .*-C \/.* --trust-workspace/,
    )
  })

  it('contains no trust that the user did not grant', async () => {
    const { text } = await command('run', ['main'])
    expect(text).not.toContain('--trust-workspace')
  })

  it('is printed on standard error if the report uses standard output', async () => {
    const { notes } = await command('run', ['main', '--trust-workspace', '--report', 'junit'])
    expect(notes.join('\n')).toMatch(/Continue: skillrail runs approve 0\w{13} --trust-workspace/)
  })
})

describe('arguments with a secret', () => {
  it('are required again before a decision, and accepted by runs approve', async () => {
    const { text } = await command('run', ['main', '--', secret])
    expect(text).toContain(argumentsAgain)
    const run = runIdIn(text)
    const refused = await command('runs approve', [run], { answer: 'y' })
    expect(refused.error?.code).toBe('arguments-needed')
    expect(await command('runs approve', [run, '--', secret], { answer: 'y' })).toMatchObject({
      code: 0,
    })
  })

  it('are accepted by chain report and chain next', async () => {
    const { text } = await command('chain start', ['talk', '--', secret])
    expect(text).toContain(argumentsAgain)
    const run = /chain report (0\w{13})/.exec(text)?.[1] ?? ''
    const done = [run, '--step', 'ask', '--status', 'success']
    expect((await command('chain report', done)).error?.code).toBe('arguments-needed')
    expect((await command('chain report', [...done, '--', secret])).text).toContain('ask#2')
    const next = await command('chain next', [run, '--', secret])
    expect(next.text).toContain(`Ask ${secret}.`)
  })
})

it('names the command that shows the status if nothing waits for an approval', async () => {
  const { text } = await command('run', ['build'])
  const run = runIdIn(text)
  const { error } = await command('runs approve', [run], { answer: 'y' })
  expect(error?.hint).toBe(`See: skillrail runs show ${run}`)
})

it('returns the result of a run whose step deletes its journal', async () => {
  project.write('eats', { run: 'rm "$SKILLRAIL_SCRATCH/../.."/*.jsonl; exit 1' })
  const { code, text, notes } = await command('run', ['eats'])
  expect([code, notes.includes('journal-gone')]).toEqual([1, true])
  expect(text).toContain('eats: failure')
})
