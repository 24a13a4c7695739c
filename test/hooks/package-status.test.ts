import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { systemRuntime } from '../../src/core/runtime.ts'
import type { PackagedClient } from '../../src/hooks/pack-plugin.ts'
import { isTwice, platformStatuses } from '../../src/hooks/status.ts'
import { installHook } from '../../src/hooks/install.ts'
import { runInProcess } from '../run-in-process.ts'

interface Home {
  home: string
  project: string
  write(path: string, value: unknown): void
}

function makeHome(): Home {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'skillrail-package-')))
  onTestFinished(() => rmSync(base, { recursive: true, force: true, maxRetries: 5 }))
  const project = join(base, 'project')
  mkdirSync(join(project, '.git'), { recursive: true })
  return {
    home: base,
    project,
    write(path, value) {
      const file = join(base, path)
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, typeof value === 'string' ? value : JSON.stringify(value))
    },
  }
}

/** Writes the files of the package that tell it from other plugins, with its hook. */
function writePackage({ write }: Home, folder: string, manifest: string): void {
  write(`${folder}/${manifest}`, { name: 'skillrail', version: '90.0.0' })
  write(`${folder}/package.json`, { name: 'skillrail', version: '90.0.0' })
  for (const name of ['serves-all-skills', 'skillrail-hook', 'hook/hook.cjs', 'hook/rail.cjs']) {
    write(`${folder}/${name}`, '')
  }
  write(`${folder}/skills/rail/SKILL.md`, '---\nname: rail\ndescription: Decides.\n---\n')
}

interface Installation {
  /** The folder of the package below the home. */
  folder: string
  /** Installs it as the client does, whose records are written. */
  install(home: Home): void
  disable(home: Home): void
}

const id = 'skillrail@skillrail'
const copilot = { name: 'skillrail', marketplace: 'skillrail', version: '0.3.0' }

const ofPi = 'git:github.com/skillrail/skillrail@release'

function extension(client: 'gemini' | 'qwen'): Installation {
  const folder = `.${client}/extensions/skillrail`
  return {
    folder,
    install(home) {
      writePackage(home, folder, `${client}-extension.json`)
      const record = { type: 'local', source: '/somewhere' }
      home.write(`${folder}/.${client}-extension-install.json`, record)
    },
    disable({ home, write }) {
      const rules = { skillrail: { overrides: [`!${home}/*`] } }
      write(`.${client}/extensions/extension-enablement.json`, rules)
    },
  }
}

const installations: Readonly<Record<PackagedClient | 'codex', Installation>> = {
  claude: {
    folder: '.claude/plugins/cache/skillrail/skillrail/0.3.0',
    install(home) {
      writePackage(home, this.folder, '.claude-plugin/plugin.json')
      const market = join(home.home, '.claude/plugins/marketplaces/skillrail')
      const listing = { name: 'skillrail', plugins: [{ name: 'skillrail', source: './' }] }
      home.write('.claude/plugins/marketplaces/skillrail/.claude-plugin/marketplace.json', listing)
      const source = { source: 'github', repo: 'skillrail/skillrail' }
      const known = { skillrail: { source, installLocation: market } }
      home.write('.claude/plugins/known_marketplaces.json', known)
      const installPath = join(home.home, this.folder)
      const plugins = { [id]: [{ scope: 'user', installPath, version: '0.3.0' }] }
      home.write('.claude/plugins/installed_plugins.json', { version: 2, plugins })
      home.write('.claude/settings.json', { enabledPlugins: { [id]: true } })
    },
    disable: ({ write }) => write('.claude/settings.json', { enabledPlugins: { [id]: false } }),
  },
  copilot: {
    folder: '.copilot/installed-plugins/skillrail/skillrail',
    install(home) {
      writePackage(home, this.folder, '.claude-plugin/plugin.json')
      const plugin = { ...copilot, enabled: true, cache_path: join(home.home, this.folder) }
      home.write('.copilot/config.json', { installedPlugins: [plugin] })
      home.write('.copilot/settings.json', { enabledPlugins: { [id]: true } })
    },
    disable: ({ write }) => write('.copilot/settings.json', { enabledPlugins: { [id]: false } }),
  },
  codex: {
    folder: '.codex/plugins/cache/skillrail/skillrail/0.3.0',
    install(home) {
      writePackage(home, this.folder, '.codex-plugin/plugin.json')
      home.write('.codex/config.toml', `[plugins."${id}"]\nenabled = true\n`)
    },
    disable: ({ write }) => write('.codex/config.toml', `[plugins."${id}"]\nenabled = false\n`),
  },
  gemini: extension('gemini'),
  opencode: {
    folder:
      '.cache/opencode/packages/skillrail@git+https:/host/skillrail.git#release/node_modules/skillrail',
    install(home) {
      writePackage(home, this.folder, 'package.json')
      const plugin = ['skillrail@git+https://host/skillrail.git#release']
      home.write('.config/opencode/opencode.json', { plugin })
    },
    disable: ({ write }) => write('.config/opencode/opencode.json', { plugin: [] }),
  },
  pi: {
    folder: '.pi/agent/git/github.com/skillrail/skillrail',
    install(home) {
      writePackage(home, this.folder, 'package.json')
      home.write('.pi/agent/settings.json', { packages: [ofPi] })
    },
    disable({ write }) {
      const packages = [{ source: ofPi, extensions: [] }]
      write('.pi/agent/settings.json', { packages })
    },
  },
  qwen: extension('qwen'),
}

const clients = Object.keys(installations).filter(
  (name): name is keyof typeof installations => name in installations,
)

function statusOf(client: keyof typeof installations, { home, project }: Home) {
  const runtime = systemRuntime({ cwd: project, home, env: { HOME: home } })
  const [status] = platformStatuses(runtime, [client])
  if (!status) throw new Error('there is no status')
  return status
}

describe.each(clients)('the status of %s', (client) => {
  const { install, disable, folder } = installations[client]

  function installed(): Home {
    const home = makeHome()
    install.call(installations[client], home)
    return home
  }

  it('knows the hook of a package, and that chains run there as rails', () => {
    const home = installed()
    expect(statusOf(client, home)).toMatchObject({
      user: { state: 'absent' },
      project: { state: 'absent' },
      package: { path: join(home.home, folder), version: '90.0.0', update: undefined },
      disabledPackage: undefined,
      rail: { state: 'ready' },
    })
  })

  it('names the update of a package that is older than this program', () => {
    const home = installed()
    home.write(`${folder}/package.json`, { name: 'skillrail', version: '0.0.9' })
    const { package: own, steps } = statusOf(client, home)
    expect(own?.update).toMatch(/^(?:claude|codex|copilot|gemini|pi|qwen|rm) /)
    expect(steps).toContain(`Update the package: ${own?.update}`)
  })

  it('is not better than the package: one that is disabled, removed or incomplete counts for nothing', () => {
    const disabled = installed()
    disable(disabled)
    // OpenCode and pi have no record of a package that the user does not name.
    const isKnown = client !== 'opencode' && client !== 'pi'
    expect(statusOf(client, disabled)).toMatchObject({
      package: undefined,
      disabledPackage: isKnown
        ? { path: join(disabled.home, folder), version: '90.0.0' }
        : undefined,
      rail: { state: 'absent' },
    })

    const removed = installed()
    rmSync(join(removed.home, folder), { recursive: true })
    expect(statusOf(client, removed).rail).toEqual({ state: 'absent' })

    const incomplete = installed()
    rmSync(join(incomplete.home, folder, 'hook/rail.cjs'))
    expect(statusOf(client, incomplete)).toMatchObject({
      package: { run: { answer: 'no', reason: expect.stringContaining('hook/rail.cjs') } },
      rail: { state: 'idle' },
    })
  })

  it('does not take the plugin of somebody else for the package', () => {
    const home = installed()
    rmSync(join(home.home, folder, 'serves-all-skills'))
    expect(statusOf(client, home)).toMatchObject({ package: undefined, rail: { state: 'absent' } })
  })
})

it('says that the hook of a package does not run where the client runs no hooks', () => {
  const home = makeHome()
  installations.claude.install(home)
  home.write('.claude/settings.json', { enabledPlugins: { [id]: true }, disableAllHooks: true })
  const reason = expect.stringContaining('disableAllHooks')
  expect(statusOf('claude', home)).toMatchObject({
    package: { run: { answer: 'no', reason } },
    rail: { state: 'idle', reason },
  })
})

it('warns of a hook that is in the settings and in the package', async () => {
  const home = makeHome()
  const { home: folder, project } = home
  installations.claude.install(home)
  const runtime = systemRuntime({ cwd: project, home: folder, env: { HOME: folder } })
  expect(isTwice(statusOf('claude', home))).toBe(false)
  await installHook(runtime, 'claude', { scope: 'user' })
  expect(isTwice(statusOf('claude', home))).toBe(true)
  const status = await runInProcess(['hooks', 'status', 'claude'], { cwd: project, home: folder })
  expect(status.stdout).toContain('package: 90.0.0')
  expect(status.stdout).toContain('skillrail hooks uninstall claude')
  const overview = await runInProcess(['overview'], { cwd: project, home: folder })
  expect(overview.stdout).toContain('hook twice')
})

it('shows the package and its version in the overview', async () => {
  const home = makeHome()
  installations.claude.install(home)
  const at = { cwd: home.project, home: home.home }
  const whole = await runInProcess(['overview', '--json'], at)
  expect(whole.stdout).toContain('from the package skillrail@skillrail 90.0.0')
  const alone = await runInProcess(['hooks', 'status', 'claude'], at)
  expect(alone.stdout).toContain('launcher  the package of the client has its own')
  installations.claude.disable(home)
  expect((await runInProcess(['overview'], at)).stdout).toContain('90.0.0 is disabled')
  const status = await runInProcess(['hooks', 'status', 'claude'], at)
  expect(status.stdout).toContain('package: disabled')
})
