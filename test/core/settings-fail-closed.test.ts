import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { inspectConfiguration, loadConfiguration } from '../../src/core/configuration.ts'
import { systemRuntime } from '../../src/core/runtime.ts'
import { SettingsError } from '../../src/core/settings-error.ts'
import { type Settings, settingTable, variableOf } from '../../src/core/settings.ts'

let root: string

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'skillrail-closed-')))
  mkdirSync(join(root, 'project/.git'), { recursive: true })
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

const places = {
  user: 'home/.config/skillrail/config.json',
  project: 'project/.skillrail/config.json',
  named: 'named.json',
} as const

type Place = keyof typeof places

function write(place: Place, content: string | Uint8Array): string {
  const path = join(root, places[place])
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, content)
  return path
}

const runtimeWith = (env: Record<string, string> = {}) =>
  systemRuntime({ env, home: join(root, 'home'), cwd: join(root, 'project') })

/** The settings, or undefined where they are refused. */
function settingsFrom(place: Place, env: Record<string, string> = {}): Settings | undefined {
  const file = place === 'named' ? join(root, places.named) : undefined
  try {
    return loadConfiguration(runtimeWith(env), { file }).settings
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error
    const { code, exitCode, diagnostics } = error
    return code === 'settings-invalid' && exitCode === 4 && diagnostics.length > 0
      ? undefined
      : inspectConfiguration(runtimeWith(env), { file }).settings
  }
}

const strict = {
  tools: {
    deny: ['p__*', 'mail__send'],
    ask: ['db__*'],
    neverReplay: ['pay__*'],
    sessionHours: 1,
  },
  run: { sandbox: 'all', timeout: 60, outputLimit: 4096, environment: [] },
  agent: { maxTurns: 3 },
  hooks: { budget: 200 },
  skills: { trustedPaths: [] },
  workspaceTrust: 'ask',
}

/** Whether nothing is allowed that the valid file refuses. */
function isAsStrict({ tools, run, agent, hooks, skills, workspaceTrust }: Settings): boolean {
  const holds = (wanted: readonly string[], list: readonly string[]): boolean =>
    wanted.every((one) => list.includes(one))
  return (
    holds(strict.tools.deny, tools.deny) &&
    holds(strict.tools.ask, tools.ask) &&
    holds(strict.tools.neverReplay, tools.neverReplay) &&
    tools.sessionHours <= strict.tools.sessionHours &&
    run.sandbox === 'all' &&
    run.timeout <= strict.run.timeout &&
    run.outputLimit <= strict.run.outputLimit &&
    run.environment.length === 0 &&
    agent.maxTurns <= strict.agent.maxTurns &&
    hooks.budget <= strict.hooks.budget &&
    skills.trustedPaths.length === 0 &&
    workspaceTrust === 'ask'
  )
}

const validText = JSON.stringify(strict, undefined, 2)

/** Offsets outside of the texts and numbers that are values: structure and keys. */
const structure = (() => {
  const values = [...validText.matchAll(/(?<=[:[,]\s*)(?:"[^"]*"(?!:)|\d+)/g)]
  const isValue = (at: number): boolean =>
    values.some(({ index, 0: { length } }) => at >= index && at < index + length)
  return validText
    .split('')
    .flatMap((character, at) => (isValue(at) || character.trim() === '' ? [] : [at]))
})()

const paths = Object.entries(strict).flatMap(([group, members]) =>
  typeof members === 'string' ? [[group]] : Object.keys(members).map((name) => [group, name]),
)

function replaced(
  path: readonly string[],
  change: (key: string, value: unknown) => object,
): string {
  const [group = '', name] = path
  const copy: Record<string, object | string> = structuredClone(strict)
  const members = copy[group]
  if (name === undefined || typeof members !== 'object') {
    const { [group]: value, ...others } = copy
    return JSON.stringify({ ...others, ...change(group, value) })
  }
  const { [name]: value, ...others } = Object.fromEntries(Object.entries(members))
  return JSON.stringify({ ...copy, [group]: { ...others, ...change(name, value) } })
}

const path = fc.constantFrom(...paths)
const otherKey = fc.string({ minLength: 1, maxLength: 8 })

const mutations = {
  'a character of its structure is deleted': fc
    .constantFrom(...structure)
    .map((at) => validText.slice(0, at) + validText.slice(at + 1)),
  'a character is inserted into its structure': fc
    .tuple(fc.constantFrom(...structure), fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }))
    .map(([at, character]) => validText.slice(0, at) + character + validText.slice(at)),
  'a character of its structure is changed': fc
    .tuple(fc.constantFrom(...structure), fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }))
    .map(([at, character]) => validText.slice(0, at) + character + validText.slice(at + 1)),
  'it is cut off': fc
    .integer({ min: 0, max: validText.length - 1 })
    .map((length) => validText.slice(0, length)),
  'a value has another type': fc
    .tuple(path, fc.jsonValue())
    .filter(([, value]) => typeof value !== 'number' && !Array.isArray(value) && value !== 'all')
    .map(([at, value]) => replaced(at, (key) => ({ [key]: value }))),
  'a list is one text': path.map((at) =>
    replaced(at, (key, value) => ({ [key]: Array.isArray(value) ? value.join(',') || 'x' : null })),
  ),
  'a key has another case': fc
    .tuple(path, fc.constantFrom('toUpperCase', 'capital'))
    .map(([at, how]) =>
      replaced(at, (key, value) => ({
        [how === 'capital' ? key.charAt(0).toUpperCase() + key.slice(1) : key.toUpperCase()]: value,
      })),
    ),
  'a choice has another case': fc
    .constantFrom('All', 'ALL', ' all', 'all ')
    .map((word) => replaced(['run', 'sandbox'], (key) => ({ [key]: word }))),
  'a key has another name': fc
    .tuple(path, otherKey)
    .filter(([, key]) => key !== '$schema')
    .map(([at, name]) => replaced(at, (_, value) => ({ [name]: value }))),
  'a key is there twice': fc.tuple(path, fc.jsonValue()).map(([[group = '', name], value]) => {
    const key = JSON.stringify(name ?? group)
    const again = `${key}: ${JSON.stringify(value)}`
    const at = validText.indexOf(`${JSON.stringify(name === undefined ? 'tools' : group)}:`)
    const inside = validText.indexOf('{', name === undefined ? 0 : at) + 1
    return `${validText.slice(0, inside)} ${again},${validText.slice(inside)}`
  }),
  'a group is in another one': fc
    .constantFrom('settings', 'skillrail', 'agent', 'tools')
    .map((outer) => JSON.stringify({ [outer]: strict })),
  'its keys are joined with dots': fc.constant(
    JSON.stringify(
      Object.fromEntries(
        Object.entries(strict).flatMap(([group, members]) =>
          typeof members === 'string'
            ? [[group, members]]
            : Object.entries(members).map(([name, value]) => [`${group}.${name}`, value]),
        ),
      ),
    ),
  ),
} satisfies Record<string, fc.Arbitrary<string>>

describe.each(['user', 'named'] as const)('the %s file', (place) => {
  it('restricts while it is valid, also with a byte-order mark', () => {
    write(place, validText)
    expect(settingsFrom(place)).toSatisfy(isAsStrict)
    write(place, `\ufeff${validText}`)
    expect(settingsFrom(place)).toSatisfy(isAsStrict)
  })

  it.each(Object.entries(mutations))('allows nothing more if %s', (_, texts) => {
    fc.assert(
      fc.property(texts, (text) => {
        write(place, text)
        const settings = settingsFrom(place)
        return settings === undefined || isAsStrict(settings)
      }),
      { numRuns: 150 },
    )
  })

  it.each([
    ['UTF-16', Buffer.from(`\ufeff${validText}`, 'utf16le')],
    ['UTF-16 without a mark', Buffer.from(validText, 'utf16le')],
    ['big-endian UTF-16', Buffer.from(`\ufeff${validText}`, 'utf16le').swap16()],
    ['Latin-1', Buffer.concat([Buffer.from(validText), Buffer.from([0xe4])])],
    ['no bytes at all', Buffer.alloc(0)],
    ['blanks', Buffer.from(' \n')],
    ['zero bytes', Buffer.alloc(64)],
    ['too many bytes', Buffer.from(`${validText}${' '.repeat(1_100_000)}`)],
  ])('is refused if it contains %s', (_, bytes) => {
    write(place, bytes)
    expect(settingsFrom(place)).toBeUndefined()
  })
})

describe.skipIf(process.platform === 'win32')('a settings file that cannot be opened', () => {
  it('is refused as a directory, a FIFO, and a link that leads nowhere', () => {
    const file = write('user', validText)
    rmSync(file)
    mkdirSync(file)
    expect(settingsFrom('user')).toBeUndefined()
    rmSync(file, { recursive: true })
    execFileSync('mkfifo', [file])
    expect(settingsFrom('user')).toBeUndefined()
    rmSync(file)
    symlinkSync(join(root, 'nowhere'), file)
    expect(settingsFrom('user')).toBeUndefined()
  })

  it.skipIf(process.getuid?.() === 0)('is refused without the permission to read it', () => {
    for (const place of ['user', 'project'] as const) {
      const file = write(place, validText)
      chmodSync(file, 0)
      expect(settingsFrom(place)).toBeUndefined()
      chmodSync(file, 0o600)
      chmodSync(dirname(file), 0)
      expect(settingsFrom(place)).toBeUndefined()
      chmodSync(dirname(file), 0o700)
      rmSync(file)
    }
  })
})

describe('a project’s file', () => {
  it('is refused for every error, like the user’s file', () => {
    for (const text of ['{', '', '{"tools":{"dney":["a"]}}', '{"tools":{"deny":"a"}}']) {
      write('project', text)
      expect(settingsFrom('project')).toBeUndefined()
    }
  })

  it('adds to the tools that the user denies, and removes none', () => {
    write('user', validText)
    write('project', '{"tools":{"deny":["more"],"ask":[],"neverReplay":[]}}')
    const settings = settingsFrom('user')
    expect(settings).toSatisfy(isAsStrict)
    expect(settings?.tools.deny).toContain('more')
  })

  it.each([
    [undefined, 'all', 'all'],
    [undefined, 'refuse', 'refuse'],
    ['all', 'untrusted', 'all'],
    ['all', 'all', 'all'],
    ['all', 'refuse', undefined],
    ['refuse', 'all', undefined],
  ])(
    'combines the sandbox settings: %s of the user and %s of the project give %s',
    (user, project, applies) => {
      write('user', user === undefined ? '{}' : JSON.stringify({ run: { sandbox: user } }))
      write('project', JSON.stringify({ run: { sandbox: project } }))
      expect(settingsFrom('user')?.run.sandbox).toBe(applies)
      // The user has the last word.
      expect(settingsFrom('user', { SKILLRAIL_RUN_SANDBOX: 'untrusted' })?.run.sandbox).toBe(
        applies === undefined ? undefined : 'untrusted',
      )
    },
  )

  it('can require trust if the user trusts every project, but not the reverse', () => {
    write('user', '{"workspaceTrust":"trusted"}')
    write('project', '{"workspaceTrust":"ask"}')
    expect(settingsFrom('user')?.workspaceTrust).toBe('ask')
    write('user', '{"workspaceTrust":"ask"}')
    write('project', '{"workspaceTrust":"trusted"}')
    expect(settingsFrom('user')?.workspaceTrust).toBe('ask')
  })
})

describe('a variable', () => {
  it.each([
    ['SKILLRAIL_TOOLS_DENY', 'a b;c'],
    ['SKILLRAIL_TOOLS_DENY', ' '],
    ['SKILLRAIL_RUN_SANDBOX', 'All'],
    ['SKILLRAIL_RUN_SANDBOX', 'true'],
    ['SKILLRAIL_WORKSPACE_TRUST', 'yes'],
    ['SKILLRAIL_RUN_TIMEOUT', '60s'],
    ['SKILLRAIL_AGENT_MAX_TURNS', '-1'],
  ])('is refused with a wrong value: %s=%j', (name, value) => {
    expect(settingsFrom('user', { [name]: value })).toBeUndefined()
  })

  it.each([
    ['SKILLRAIL_TOOL_DENY', 'SKILLRAIL_TOOLS_DENY'],
    ['SKILLRAIL_TOOLS_DENYS', 'SKILLRAIL_TOOLS_DENY'],
    ['SKILLRAIL_TOOLSDENY', 'SKILLRAIL_TOOLS_DENY'],
    ['SKILLRAIL_DENY_TOOLS', 'SKILLRAIL_TOOLS_DENY'],
    ['SKILLRAIL_DENY', 'SKILLRAIL_TOOLS_DENY'],
    ['SKILRAIL_TOOLS_DENY', 'SKILLRAIL_TOOLS_DENY'],
    ['skillrail_tools_deny', 'SKILLRAIL_TOOLS_DENY'],
    ['SKILLRAIL_RUN_SANBOX', 'SKILLRAIL_RUN_SANDBOX'],
    ['SKILLRAIL_SANDBOX', 'SKILLRAIL_RUN_SANDBOX'],
    ['SKILLRAIL_WORKSPACETRUST', 'SKILLRAIL_WORKSPACE_TRUST'],
  ])('is refused with a misspelled name: %s', (name, meant) => {
    const { diagnostics } = inspectConfiguration(runtimeWith({ [name]: 'all' }))
    expect(diagnostics).toMatchObject([
      { code: 'setting-unknown', severity: 'error', path: name, hint: `Did you mean ${meant}?` },
    ])
  })

  it('is refused with any one character too many, too few or changed', () => {
    const names = settingTable.map((setting) => variableOf(setting))
    const changed = fc.tuple(fc.constantFrom(...names), fc.nat(), fc.constantFrom(-1, 0, 1))
    const property = fc.property(changed, ([name, place, change]) => {
      const at = 'SKILLRAIL_'.length + (place % (name.length - 'SKILLRAIL_'.length))
      const misspelled =
        name.slice(0, at) + (change < 0 ? '' : 'Q') + name.slice(change > 0 ? at : at + 1)
      return settingsFrom('user', { [misspelled]: '1' }) === undefined
    })
    fc.assert(property, { numRuns: 100 })
  })

  it.each([
    'SKILLRAIL_RUN_ID',
    'SKILLRAIL_STATE',
    'SKILLRAIL_STATE_KEY',
    'SKILLRAIL_SESSION',
    'SKILLRAIL_SCRATCH',
    'SKILLRAIL_STEP',
    'SKILLRAIL_INPUT_API_KEY',
    'SKILLRAIL_AGENT_API_KEY',
    'SKILLRAIL_PLUGIN',
    'SKILLRAIL_OF_SOMEBODY_ELSE',
    'SKILL_PATHS',
  ])('is ignored if it is not a setting: %s', (name) => {
    expect(settingsFrom('user', { [name]: 'x' })).toBeDefined()
  })

  it('adds to the tools that files deny', () => {
    write('user', validText)
    const settings = settingsFrom('user', { SKILLRAIL_TOOLS_DENY: 'more' })
    expect(settings).toSatisfy(isAsStrict)
    expect(settings?.tools.deny).toContain('more')
  })
})
