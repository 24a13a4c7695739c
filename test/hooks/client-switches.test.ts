import { utimesSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { installHook, uninstallHook } from '../../src/hooks/install.ts'
import { loadConfiguration } from '../../src/core/configuration.ts'
import { adapters, type Platform } from '../../src/hooks/adapters.ts'
import { checkHooks, platformStatuses, type PlatformStatus } from '../../src/hooks/status.ts'
import { writeTrace } from '../../src/hooks/trace.ts'
import { makeFixture } from './_fixture.ts'

type Place = ReturnType<typeof makeFixture>

function statusOf({ runtime }: Place, platform: Platform): PlatformStatus {
  const [status] = platformStatuses(runtime, [platform])
  if (!status) throw new Error(`there is no status of ${platform}`)
  return status
}

async function installed(platform: Platform): Promise<Place> {
  const place = makeFixture()
  await installHook(place.runtime, platform, { scope: 'user' })
  return place
}

const adapterFile: Readonly<Record<Platform, string>> = {
  claude: '.claude/settings.json',
  codex: '.codex/hooks.json',
  copilot: '.copilot/hooks/0-skillrail.json',
  cursor: '.cursor/hooks.json',
  gemini: '.gemini/settings.json',
  opencode: '.config/opencode/plugin/skillrail.js',
  pi: '.pi/agent/extensions/skillrail.ts',
  qwen: '.qwen/settings.json',
}

const off = '{"disableAllHooks": true}'
const on = '{"disableAllHooks": false}'
const featureOff = '[features]\nhooks = false\n'
const trusted = (place: Place) => `[projects."${place.project}"]\ntrust_level = "trusted"\n`
const enabled = (value: boolean) => JSON.stringify({ hooksConfig: { enabled: value } })
const named = '{"hooksConfig": {"disabled": ["skillrail"]}}'

type Files = Readonly<Record<string, string | ((place: Place) => string)>>

/** As the real clients do: `test/clients/switches.suite.ts`. */
const switchesOff: readonly [Platform, string, Files][] = [
  ['claude', 'disableAllHooks', { '.claude/settings.json': off }],
  ['claude', 'disableAllHooks', { 'project/.claude/settings.json': off }],
  ['claude', 'disableAllHooks', { 'project/.claude/settings.local.json': off }],
  [
    'claude',
    'disableAllHooks',
    { '.claude/settings.json': on, 'project/.claude/settings.json': off },
  ],
  ['claude', 'disableAllHooks', { '.claude/settings.json': '{"disableAllHooks": "true"}' }],
  ['claude', 'disableAllHooks', { '.claude/settings.json': '{"disableAllHooks": null}' }],
  ['codex', 'features.hooks', { '.codex/config.toml': featureOff }],
  ['codex', 'features.codex_hooks', { '.codex/config.toml': '[features]\ncodex_hooks = false\n' }],
  ['codex', 'features.hooks', { 'project/.codex/config.toml': featureOff }],
  [
    'codex',
    'features.hooks',
    {
      '.codex/config.toml': featureOff,
      'project/.codex/config.toml': '[features]\nhooks = true\n',
    },
  ],
  ['copilot', 'disableAllHooks', { 'project/.github/copilot/settings.json': off }],
  ['copilot', 'disableAllHooks', { 'project/.claude/settings.json': off }],
  ['gemini', 'hooksConfig.enabled', { '.gemini/settings.json': enabled(false) }],
  ['gemini', 'hooksConfig.enabled', { 'project/.gemini/settings.json': enabled(false) }],
  ['gemini', 'hooksConfig.disabled', { 'project/.gemini/settings.json': named }],
  ['qwen', 'disableAllHooks', { '.qwen/settings.json': off }],
  ['qwen', 'disableAllHooks', { 'project/.qwen/settings.json': off }],
]

const switchesWithoutEffect: readonly [Platform, Files][] = [
  ['claude', { '.claude/settings.json': off, 'project/.claude/settings.local.json': on }],
  ['claude', { 'project/.claude/settings.json': off, 'project/.claude/settings.local.json': on }],
  ['claude', { 'project/.claude/settings.json': `// why\n${off}` }],
  ['codex', { '.codex/config.toml': '[features]\nhooks = true\ncodex_hooks = false\n' }],
  [
    'codex',
    {
      '.codex/config.toml': (place) => `${featureOff}${trusted(place)}`,
      'project/.codex/config.toml': '[features]\nhooks = true\n',
    },
  ],
  ['copilot', { '.copilot/settings.json': off, '.copilot/config.json': off }],
  [
    'copilot',
    { 'project/.claude/settings.json': off, 'project/.github/copilot/settings.json': on },
  ],
  ['copilot', { 'project/.github/copilot/settings.json': '{"disableAllHooks": "true"}' }],
  [
    'gemini',
    { '.gemini/settings.json': enabled(false), 'project/.gemini/settings.json': enabled(true) },
  ],
  ['qwen', { '.qwen/settings.json': enabled(false) }],
  ['qwen', { '.qwen/settings.json': named }],
]

function writeFiles(place: Place, files: Files): void {
  for (const [path, text] of Object.entries(files)) {
    place.write(path, typeof text === 'string' ? text : text(place))
  }
}

describe('hooks status', () => {
  it.each(switchesOff)(
    'reports that %s runs no hook if %s switches hooks off in %j',
    async (platform, setting, files) => {
      const place = makeFixture()
      writeFiles(place, files)
      await installHook(place.runtime, platform, { scope: 'user' })
      const { user, runs } = statusOf(place, platform)
      expect(user).toMatchObject({ state: 'installed' })
      expect(runs.user).toMatchObject({ answer: 'no', reason: expect.stringContaining(setting) })
      const { settings } = loadConfiguration(place.runtime)
      const checks = await checkHooks({ runtime: place.runtime, settings }, true)
      const [, hook, probe] = checks
      expect([hook?.status, probe?.status]).toEqual(['warning', 'warning'])
    },
  )

  it.each(switchesWithoutEffect)(
    'does not report a switch of %s that has no effect in %j',
    async (platform, files) => {
      const place = makeFixture()
      writeFiles(place, files)
      await installHook(place.runtime, platform, { scope: 'user' })
      const { user, runs } = statusOf(place, platform)
      expect(user).toMatchObject({ state: 'installed' })
      expect(runs.user?.answer).not.toBe('no')
    },
  )

  it("believes a call of the hook that is newer than the client's file", async () => {
    const place = await installed('codex')
    const { user, runs } = statusOf(place, 'codex')
    expect(runs.user).toMatchObject({ answer: 'unknown' })
    const aMinuteAgo = new Date(Date.now() - 60_000)
    utimesSync(user.path, aMinuteAgo, aMinuteAgo)
    const trace = { platform: 'codex', cwd: place.runtime.cwd, prompt: '/deploy' } as const
    const nothing = { injected: [], withheld: [], durationMs: 1 }
    const at = new Date().toISOString()
    writeTrace(place.runtime, { ...trace, ...nothing, at })
    expect(statusOf(place, 'codex')).toMatchObject({
      runs: { user: { answer: 'yes' } },
      lastFired: at,
      steps: [],
    })
  })

  it("ignores a call that is older than the client's file", async () => {
    const place = await installed('codex')
    const at = new Date(Date.now() - 3_600_000).toISOString()
    const trace = { platform: 'codex', cwd: place.runtime.cwd, prompt: '/deploy' } as const
    writeTrace(place.runtime, { ...trace, at, injected: [], withheld: [], durationMs: 1 })
    expect(statusOf(place, 'codex').runs.user).toMatchObject({ answer: 'unknown' })
  })

  it.each<[Platform, string, string]>([
    ['claude', '{"a": 1, // why\n "b": 2}', 'a comment'],
    ['claude', '{"hooks": {"PostToolUse": [{"matcher": "x", "hooks": []},]}}', 'a trailing comma'],
    ['codex', '// why\n{"hooks": {}}', 'a comment'],
    ['codex', '{"hooks": {},}', 'a trailing comma'],
    ['codex', '\ufeff{"hooks": {}}', 'a byte-order mark'],
    ['gemini', '{"a": [1,]}', 'a trailing comma'],
    ['gemini', '\ufeff{"a": 1}', 'a byte-order mark'],
    ['qwen', '{"a": [1,]}', 'a trailing comma'],
  ])("reports that %s cannot read the hook's file %j", async (platform, text, form) => {
    const place = makeFixture()
    place.write(adapterFile[platform], text)
    await installHook(place.runtime, platform, { scope: 'user' })
    const { user, runs } = statusOf(place, platform)
    expect(user).toMatchObject({ state: 'installed' })
    expect(runs.user).toMatchObject({ answer: 'no', reason: expect.stringContaining(form) })
  })

  it.each<[Platform, string]>([
    ['claude', '\ufeff{"a": 1}'],
    ['gemini', '{"a": 1 // why\n}'],
    ['qwen', '{"a": 1 // why\n}'],
    ['qwen', '\ufeff{"a": 1}'],
  ])('does not report %s and %j, which the client reads', async (platform, text) => {
    const place = makeFixture()
    place.write(adapterFile[platform], text)
    await installHook(place.runtime, platform, { scope: 'user' })
    expect(statusOf(place, platform).runs.user?.answer).not.toBe('no')
  })

  it.each(['claude', 'codex', 'cursor', 'gemini', 'qwen'] as const)(
    'reports the hook of %s as installed beside comments, trailing commas and foreign hooks',
    async (platform) => {
      for (const event of Object.values(adapters[platform].events)) {
        const other = '{"matcher": "x", "hooks": [{"type": "command", "command": "true"}]},'
        const place = makeFixture()
        place.write(
          adapterFile[platform],
          `{\n  // mine\n  "hooks": {"${event}": [${other}]},\n}\n`,
        )
        await installHook(place.runtime, platform, { scope: 'user' })
        expect([event, statusOf(place, platform).user.state]).toEqual([event, 'installed'])
      }
    },
  )

  const copilotHooks = JSON.stringify({ hooks: { userPromptSubmitted: [{ bash: 'true' }] } })
  const claudeHooks = JSON.stringify({ hooks: { UserPromptSubmit: [{ hooks: [] }] } })

  it.each([
    ['.copilot/hooks/other.json', copilotHooks],
    ['.copilot/hooks/other.json', claudeHooks],
    ['.copilot/settings.json', copilotHooks],
    ['project/.github/hooks/other.json', copilotHooks],
    ['project/.github/copilot/settings.json', copilotHooks],
    ['project/.claude/settings.json', claudeHooks],
  ])("names %s, whose context competes with Skillrail's in Copilot CLI", async (path, text) => {
    const place = await installed('copilot')
    const rival = place.write(path, text)
    place.write('.copilot/hooks/quiet.json', '{"hooks": {"sessionEnd": [{"bash": "true"}]}}')
    expect(statusOf(place, 'copilot').rivals).toEqual([rival])
    expect(statusOf(place, 'claude').rivals).toEqual([])
  })

  it('names no competitor for a hook that is not installed, nor a hook of Skillrail', async () => {
    const place = makeFixture()
    place.write('.copilot/hooks/other.json', copilotHooks)
    expect(statusOf(place, 'copilot').rivals).toEqual([])
    const both = await installed('copilot')
    await installHook(both.runtime, 'claude', { scope: 'project' })
    await installHook(both.runtime, 'copilot', { scope: 'project' })
    expect(statusOf(both, 'copilot').rivals).toEqual([])
  })
})

describe('a file under the name of an earlier version', () => {
  function withFormerFile(): Place & { former: string } {
    const place = makeFixture()
    const former = place.write(
      '.copilot/hooks/skillrail.json',
      '{"bash": "skillrail-hook copilot"}',
    )
    return { ...place, former }
  }

  it('is outdated, and an installation replaces it', async () => {
    const place = withFormerFile()
    expect(statusOf(place, 'copilot').user).toMatchObject({ state: 'outdated', path: place.former })
    const { path } = await installHook(place.runtime, 'copilot', { scope: 'user' })
    expect(path).not.toBe(place.former)
    expect(statusOf(place, 'copilot').user).toMatchObject({ state: 'installed', path })
  })

  it('is removed by an uninstallation', async () => {
    const place = withFormerFile()
    await uninstallHook(place.runtime, 'copilot', { scope: 'user' })
    expect(statusOf(place, 'copilot').user).toMatchObject({ state: 'absent' })
  })
})
