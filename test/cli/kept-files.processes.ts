import { spawn } from 'node:child_process'
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ModelServer, startModelServer } from '../model-server/server.ts'
import { serverProgram } from '../tools/server/_servers.ts'
import { bin } from '../command-line.ts'

const joined = (...parts: string[]): string => parts.join('')

/** Values that are secrets by their shape, and two that only the name of their key tells. */
const secrets = [
  joined('gh', 'p_', 'q7R8'.repeat(9)),
  joined('AK', 'IA', 'Q7R8S9T0'.repeat(2)),
  joined('sk', '-ant-', 'q7R8s9T0'.repeat(4)),
  joined('ey', 'JhbGciOiJIUzI1', '.ey', 'JzdWIiOiIxMjM0', '.q7R8s9T0u1'),
  joined('hunter2', 'hunter2'),
  joined('correct ', 'horse battery'),
]
const [token = '', , , , password = '', plainKey = ''] = secrets
const shown = `${secrets.slice(0, 4).join(' and ')} and PASSWORD=${password}`

let root: string
let model: ModelServer
/** What was there before the first command. */
let given: ReadonlySet<string>
const problems: string[] = []

/** Every command of this file runs with the umask that protects nothing. */
async function cli(args: readonly string[], { stdin = '', allowed = [0] } = {}): Promise<string> {
  const program = [process.execPath, '--disable-warning=ExperimentalWarning', bin, ...args]
  const child = spawn('/bin/sh', ['-c', 'umask 000; exec "$@"', 'sh', ...program], {
    cwd: join(root, 'project'),
    env: {
      PATH: process.env['PATH'],
      HOME: join(root, 'home'),
      TMPDIR: join(root, 'tmp'),
      NODE_DISABLE_COMPILE_CACHE: '1',
      OPENAI_COMPATIBLE_API_KEY: 'none',
    },
  })
  child.stdin.end(stdin)
  let [stdout, stderr] = ['', '']
  child.stdout.on('data', (text) => (stdout += String(text)))
  child.stderr.on('data', (text) => (stderr += String(text)))
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve))
  if (!allowed.includes(code ?? -1)) problems.push(`${args.join(' ')}: ${code} ${stdout}${stderr}`)
  return stdout
}

function write(path: string, text: string, mode = 0o644): void {
  mkdirSync(join(root, path, '..'), { recursive: true })
  writeFileSync(join(root, path), text, { mode })
}

function everything(directory: string): string[] {
  return readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    const path = join(directory, entry.name)
    return entry.isDirectory() ? [path, ...everything(path)] : [path]
  })
}

/** What the commands have made. */
const made = (): string[] => everything(root).filter((path) => !given.has(path))

function skill(name: string, more: string, script?: string): void {
  const head = `---\nname: ${name}\ndescription: Does ${name}. Use when testing.\n${more}---\n# ${name}\n`
  write(`project/.skillrail/skills/${name}/SKILL.md`, head)
  if (script !== undefined) {
    write(`project/.skillrail/skills/${name}/scripts/run.sh`, `#!/bin/sh\n${script}\n`, 0o755)
  }
}

beforeAll(async () => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'skillrail-kept-')))
  model = await startModelServer([
    { calls: [{ name: 'read', input: { file_path: 'secret.txt' } }] },
    `It says ${shown}`,
  ])
  for (const name of ['project/.git', 'home/.cursor', 'tmp']) {
    mkdirSync(join(root, name), { recursive: true })
  }
  write('project/secret.txt', shown)
  skill('talks', '', `echo "${shown}"; echo "${shown}" >&2; echo "$@"`)
  skill('fails', '', `echo "${shown}" >&2; exit 3`)
  skill('both', 'metadata:\n  chain: "talks fails"\n')
  skill('waits', 'metadata:\n  chain: "talks"\n')
  skill('told', 'triggers:\n  - match: "deploy"\n    inject: "a.md"\n')
  write('project/.skillrail/skills/told/a.md', 'How to deploy.\n')
  for (let index = 0; index < 60; index++) skill(`filler-${index}`, '')
  write(
    'home/.cursor/mcp.json',
    JSON.stringify({
      mcpServers: {
        a: { command: process.execPath, args: [serverProgram, 'x'] },
        broken: {
          command: 'sh',
          args: ['-c', 'echo "$0: $MY_API_KEY at $DATABASE_URL" >&2; exit 3', shown],
          env: { MY_API_KEY: plainKey, DATABASE_URL: `postgresql://bob:${password}@db/prod` },
        },
      },
    }),
  )
  given = new Set(everything(root))
  await cli(['trust', '--yes'])
  await cli(['list'])
  await cli(['audit'], { allowed: [1] })
  await cli(['hooks', 'install', 'claude'])
  const prompt = { session_id: 's', cwd: join(root, 'project'), prompt: `deploy ${shown}` }
  const event = JSON.stringify({ hook_event_name: 'UserPromptSubmit', ...prompt })
  await cli(['hooks', 'run', 'claude'], { stdin: event })
  await cli(
    [
      'run',
      'both',
      '--report',
      'html=reports/run.html',
      '--report',
      'junit=reports/run.xml',
      '--report',
      'github=reports/run.md',
      '--events',
      'reports/events.jsonl',
      '--json',
      '--',
      '--token',
      password,
      shown,
    ],
    { allowed: [1] },
  )
  await cli(['chain', 'start', 'waits', '--json'], { allowed: [0, 1, 6] })
  await cli(['tools', 'refresh'])
  const params = JSON.stringify({ password, text: shown, nested: { apiKey: password } })
  write(
    'project/.skillrail/workflows.json',
    JSON.stringify({
      first: {
        description: 'Echo first',
        triggers: { tools: ['a__secret'] },
        mode: 'enforce',
        prerequisites: [
          {
            step: 1,
            tool: 'a__echo',
            description: 'Echo',
            required: true,
            params: { password, text: shown },
          },
        ],
      },
    }),
  )
  await cli(['trust', '--yes'])
  // The server does not know it after all; what came before it has run.
  await cli(['tools', 'call', 'a__secret', params], { allowed: [1] })
  rmSync(join(root, 'project/.skillrail/workflows.json'))
  await cli(['trust', '--yes'])
  await cli(['tools', 'call', 'a__echo', params])
  await cli(['tools', 'do', `echo my words ${shown}`, '--yes'], { allowed: [0, 1, 3, 4] })
  await cli(['tools', 'serve', '--detach'])
  await cli(['tools', 'call', 'a__echo', params])
  await cli([
    'agent',
    '--model',
    'openai-compatible:x',
    '--base-url',
    `${model.url}/v1`,
    '--tools',
    'read',
    `Say ${shown}`,
  ])
}, 120_000)
afterAll(async () => {
  await cli(['tools', 'serve', '--stop'])
  await model.close()
  rmSync(root, { recursive: true, force: true })
})

describe.skipIf(process.platform === 'win32')('the files that commands write', () => {
  it('exist after every command has run', () => {
    expect(problems).toEqual([])
    const names = made().map((path) => relative(root, path))
    for (const part of [
      /^home\/\.local\/state\/skillrail\/trust/,
      /^home\/\.local\/state\/skillrail\/hooks\/log\.jsonl$/,
      /^home\/\.local\/state\/skillrail\/servers\/\w+\.json$/,
      /^home\/\.local\/state\/skillrail\/tools\/.+\.json$/,
      /^home\/\.local\/state\/skillrail\/projects\/project-\w+\/runs\/\w+\.jsonl$/,
      /^home\/\.local\/state\/skillrail\/projects\/project-\w+\/sessions\/default\.calls\.jsonl$/,
      /^project\/reports\/run\.html$/,
      /^project\/reports\/events\.jsonl$/,
    ]) {
      expect(
        names.some((name) => part.test(name)),
        `${part} in\n${names.join('\n')}`,
      ).toBe(true)
    }
  })

  it('are readable by the user alone, with every umask', () => {
    /** What a project shares, what the user asked for by name, and programs that clients start. */
    const open =
      /^project\/(?:\.skillrail|\.skillrail\/tools\.json|\.skillrail\/session|reports(?:\/.*)?)$|^home\/\.claude/
    const wide = made()
      .map((path) => ({ path: relative(root, path), mode: lstatSync(path).mode & 0o777 }))
      .filter(({ path, mode }) => (mode & 0o077) !== 0 && !open.test(path))
      .map(({ path, mode }) => `${path} ${mode.toString(8)}`)
    expect(wide).toEqual([])
  })

  it('contain none of the secrets in the input', () => {
    const files = made().filter((path) => lstatSync(path).isFile())
    expect(files.length).toBeGreaterThan(15)
    const leaks = files.flatMap((path) => {
      const text = readFileSync(path, 'utf8')
      return secrets
        .filter((secret) => text.includes(secret))
        .map((secret) => `${relative(root, path)} has ${secret.slice(0, 4)}…`)
    })
    expect(leaks).toEqual([])
    expect(token).not.toBe('')
  })
})
