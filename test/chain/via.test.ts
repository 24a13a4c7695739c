import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { agentClis } from '../../src/exec/agent-clients.ts'
import { type CommandAnswer, type CommandFixture, runCommand } from './_command.ts'
import { makeProject, type TestProject } from './_project.ts'

const hookMain = fileURLToPath(new URL('../../src/rail/hook-main.ts', import.meta.url))

let project: TestProject
beforeEach(() => {
  project = makeProject({
    main: { metadata: ['chain: [prepare, review]'] },
    prepare: { run: 'echo "{\\"status\\": \\"success\\", \\"result\\": \\"42 files\\"}"' },
    review: { body: 'REVIEW THE FILES named $ARGUMENTS.' },
  })
})
afterEach(() => project.remove())

const run = (line: string, fixture: CommandFixture = {}): Promise<CommandAnswer> => {
  const words = line.split(' ')
  const name = words[0] === 'run' ? 'run' : words.slice(0, 2).join(' ')
  const env = {
    PATH: `${join(project.directory, '../bin')}:${process.env['PATH']}`,
    ...fixture.env,
  }
  return runCommand(name, words, project, { ...fixture, env })
}

/** A program in the place of a client: keeps what it was told, and answers with `script`. */
function fakeClient(name: string, script: string): void {
  const bin = join(project.directory, '../bin')
  mkdirSync(bin, { recursive: true })
  const path = join(bin, name)
  writeFileSync(
    path,
    `#!/bin/sh\ncat > "$PWD/prompt"\nprintf '%s\\n' "$@" > "$PWD/argv"\nenv > "$PWD/env"\n${script}\n`,
  )
  chmodSync(path, 0o755)
}

const told = (name: 'prompt' | 'argv' | 'env'): string =>
  readFileSync(join(project.directory, name), 'utf8')

const answer =
  'printf "I looked.\\n\\n\\`\\`\\`yaml\\noutput:\\n  status: %s\\n  result: fine\\n\\`\\`\\`\\n"'
const success = `${answer} success`

describe('an agent client as the executor', () => {
  it('gets the skill, its arguments and the state, and returns its output block as the result', async () => {
    fakeClient('claude', success)
    const { code, json } = await run('run main --via claude --json src/a.ts')
    expect(code).toBe(0)
    expect(json.attempts[0]?.steps).toMatchObject([
      { step: 'prepare', evidence: 'exit-code' },
      { step: 'review', status: 'success', result: 'fine', evidence: 'self-reported' },
    ])
    expect(told('prompt')).toContain('<skill_content name="review">')
    expect(told('prompt')).toContain('REVIEW THE FILES named src/a.ts.')
    expect(told('prompt')).toContain('"result":"42 files"')
  })

  it('gets the references that its triggers inject for the arguments', async () => {
    fakeClient('codex', success)
    const directory = join(project.directory, '.skillrail/skills/review')
    mkdirSync(join(directory, 'references'))
    for (const name of ['strict', 'loose']) {
      writeFileSync(join(directory, `references/${name}.md`), `THE ${name} RULES`)
    }
    writeFileSync(
      join(directory, 'SKILL.md'),
      `---\nname: review\ndescription: Reviews. Use when testing.\ntriggers:\n  - match: "^/review strictly"\n    inject: references/strict.md\n  - match: "^/review loosely"\n    inject: references/loose.md\n---\nReview.\n`,
    )
    expect((await run('run main --via codex strictly')).code).toBe(0)
    expect(told('prompt')).toContain('THE strict RULES')
    expect(told('prompt')).not.toContain('THE loose RULES')
  })

  it('fails the step when it never answers with an output block', async () => {
    fakeClient('gemini', 'echo "All done, everything is perfect."')
    const { code, json } = await run('run main --via gemini --json')
    expect(code).toBe(1)
    expect(json.attempts[0]?.steps[1]).toMatchObject({
      status: 'failure',
      errors: [{ code: 'output-missing' }],
    })
  })

  it('fails the step when it only repeats its prompt', async () => {
    fakeClient('qwen', 'cat "$PWD/prompt"')
    const { json } = await run('run main --via qwen --json')
    expect(json.attempts[0]?.steps[1]).toMatchObject({ errors: [{ code: 'output-missing' }] })
  })

  it.each([
    ['says failure', `${answer} failure`, 'failure', []],
    ['ends badly after a success', `${success}; exit 3`, 'failure', [{ code: 'exit-code' }]],
    ['ends badly', 'echo "no credit" >&2; exit 1', 'failure', [{ code: 'exit-code' }]],
    ['says something else', `${answer} perfect`, 'failure', [{ code: 'output-malformed' }]],
  ])('fails the step when it %s', async (_name, script, status, errors) => {
    fakeClient('claude', script)
    const { json } = await run('run main --via claude --json')
    expect(json.attempts[0]?.steps[1]).toMatchObject({ status, errors })
  })

  it('is ended with its whole group by the time-out', async () => {
    fakeClient('claude', 'sleep 30')
    const { json } = await run('run main --via claude --set timeout=1 --json')
    expect(json.attempts[0]?.steps[1]).toMatchObject({ errors: [{ code: 'timeout' }] })
  })

  it('needs a verification with --require-verified', async () => {
    fakeClient('claude', success)
    const { code, json } = await run('run main --via claude --require-verified --json')
    expect(code).toBe(1)
    expect(json.attempts[0]?.steps[1]).toMatchObject({ errors: [{ code: 'not-verified' }] })
  })

  it('gets the variables of its own sign-in, and no others', async () => {
    fakeClient('claude', success)
    await run('run main --via claude', {
      env: { ANTHROPIC_API_KEY: 'sk-own', OPENAI_API_KEY: 'sk-other', DATABASE_URL: 'secret' },
    })
    expect(told('env')).toMatch(/^ANTHROPIC_API_KEY=sk-own$/m)
    expect(told('env')).toMatch(/^SKILLRAIL_RUN_ID=/m)
    expect(told('env')).not.toMatch(/^OPENAI_API_KEY|^DATABASE_URL/m)
  })

  it('gets no reference from the hook, because its prompt has them', async () => {
    const skill = join(project.directory, '../home/.agents/skills/saw')
    mkdirSync(skill, { recursive: true })
    const head = 'name: saw\ndescription: For tests.\ntriggers:\n  - match: SAW\n    inject: saw.md'
    writeFileSync(join(skill, 'SKILL.md'), `---\n${head}\n---\nSaw.\n`)
    writeFileSync(join(skill, 'saw.md'), 'HOW TO SAW\n')
    const hook = `'${process.execPath}' --no-warnings '${hookMain}' claude`
    const event = JSON.stringify({ session_id: 's', cwd: project.directory, prompt: 'SAW' })
    const call = `printf %s '${event}' |`
    fakeClient(
      'claude',
      `${call} ${hook} > with\n${call} env -u SKILLRAIL_RUN_ID ${hook} > without\n${success}`,
    )
    await run('run main --via claude')
    expect(readFileSync(join(project.directory, 'with'), 'utf8')).toBe('')
    expect(readFileSync(join(project.directory, 'without'), 'utf8')).toContain('HOW TO SAW')
  })

  it('has the digest of its prompt in the journal', async () => {
    fakeClient('claude', success)
    const { json } = await run('run main --via claude --json')
    const path = join(project.runs, `${json.runId}.jsonl`)
    expect(readFileSync(path, 'utf8')).toMatch(
      /"key":"1:review".*"promptDigest":"sha256:[0-9a-f]{64}"/,
    )
  })

  it('runs again in a resume and in a retry of the run', async () => {
    fakeClient('claude', 'exit 1')
    const { json } = await run('run main --via claude --json')
    fakeClient('claude', success)
    const retried = await run(`runs retry ${json.runId} --json`)
    expect([retried.code, retried.json.attempts[0]?.steps.map((step) => step.status)]).toEqual([
      0,
      ['success', 'success'],
    ])
  })

  it('is refused in an untrusted workspace, with exit code 4', async () => {
    fakeClient('claude', success)
    const refused = await run('run main --via claude', { workspaceTrust: 'ask' })
    expect([refused.code, refused.error?.code]).toEqual([4, 'skill-not-trusted'])
  })

  it('is an error if it is not installed, and the error says how to install it', async () => {
    const missing = await run('run main --via opencode', { env: { PATH: '/usr/bin:/bin' } })
    expect([missing.code, missing.error?.hint]).toEqual([3, expect.stringContaining('opencode-ai')])
  })

  it('is wrong use if its name is unknown', async () => {
    const { error } = await run('run main --via cloud')
    expect(error?.hint).toContain('claude, codex')
  })
})

describe('the plan for an agent client', () => {
  it('names the fields that the client does not support', async () => {
    const path = join(project.directory, '.skillrail/skills/review/SKILL.md')
    const text = readFileSync(path, 'utf8')
    writeFileSync(
      path,
      text.replace('\n---\n', '\nallowed-tools: Read\nmodel: opus\nagent: critic\n---\n'),
    )
    const { lines, json } = await run('chain plan main --via codex --json')
    expect(json.steps[1]).toMatchObject({
      executor: 'agent',
      client: 'codex',
      notHonoured: ['allowed-tools', 'model', 'agent'],
    })
    expect(lines).toEqual([])
    const text2 = (await run('chain plan main --via claude')).lines.join('')
    expect(text2).toMatch(/review +claude .*without agent$/m)
  })
})

it('passes no client a flag that gets round its permissions', () => {
  const wishes = { allowedTools: [{ tool: 'Bash', pattern: 'git:*' }], model: 'opus' }
  const flags = Object.values(agentClis).flatMap((client) => client.args(wishes))
  expect(
    flags.filter((flag) => /yolo|bypass|dangerous|skip|full-auto|allow-all|auto/.test(flag)),
  ).toEqual([])
  expect(agentClis.claude.args(wishes)).toEqual([
    '-p',
    '--output-format',
    'text',
    '--allowedTools',
    'Bash(git:*)',
    '--model',
    'opus',
  ])
})
