import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { codexVersion, isEnabledHere } from '../../src/library/client-plugins.ts'
import { discoverSkills } from '../../src/library/discover.ts'
import { type Fixture, fixture } from './_fixture.ts'

const json = (value: unknown): string => `${JSON.stringify(value, undefined, 2)}\n`

function skillsIn({ runtime }: Fixture, env: Record<string, string> = {}): string[] {
  const { skills } = discoverSkills({ runtime: { ...runtime, env }, useIndex: false })
  return skills.map(({ name }) => name).toSorted()
}

function unreadable({ runtime }: Fixture): (string | undefined)[] {
  const { diagnostics } = discoverSkills({ runtime, useIndex: false })
  return diagnostics.flatMap(({ code, path }) =>
    code === 'client-plugins-unreadable' ? [path] : [],
  )
}

interface ClaudePlugin {
  version?: string
  enabled?: unknown
  /** Default: as the client installs it for the user. */
  installed?: object | false
  entry?: object
  manifest?: unknown
}

/** A home of Claude Code, with the files that it writes for plugins of a Git marketplace. */
function claude(plugins: Record<string, ClaudePlugin>, home = '.claude'): Fixture {
  const at = fixture()
  const folder = join(at.home, home, 'plugins')
  const ids = Object.entries(plugins)
  const installed = ids.flatMap(([name, { version = '1.9.0', installed: more = {} }]) => {
    const installPath = join(folder, 'cache/mk', name, version)
    const times = {
      installedAt: '2026-11-28T15:07:41.281Z',
      lastUpdated: '2026-11-28T15:07:41.281Z',
    }
    const record = { scope: 'user', installPath, version, ...times, ...more }
    return more === false ? [] : [[`${name}@mk`, [record]]]
  })
  at.write({
    [`home/${home}/plugins/installed_plugins.json`]: json({
      version: 2,
      plugins: Object.fromEntries(installed),
    }),
    [`home/${home}/plugins/known_marketplaces.json`]: json({
      mk: {
        source: { source: 'git', url: 'https://example.com/market.git' },
        installLocation: join(folder, 'marketplaces/mk'),
        lastUpdated: '2026-11-28T15:07:41.281Z',
      },
    }),
    [`home/${home}/plugins/marketplaces/mk/.claude-plugin/marketplace.json`]: json({
      name: 'mk',
      owner: { name: 'x' },
      plugins: ids.map(([name, { entry }]) => ({ name, source: `./${name}`, ...entry })),
    }),
    [`home/${home}/settings.json`]: json({
      enabledPlugins: Object.fromEntries(
        ids.map(([name, { enabled = true }]) => [`${name}@mk`, enabled]),
      ),
    }),
  })
  for (const [name, { version = '1.9.0', manifest = { name, version } }] of ids) {
    if (manifest === undefined) continue
    const text = typeof manifest === 'string' ? manifest : json(manifest)
    at.write({ [`${cacheOf(name, version, home)}/.claude-plugin/plugin.json`]: text })
  }
  return at
}

const cacheOf = (name: string, version = '1.9.0', home = '.claude'): string =>
  `home/${home}/plugins/cache/mk/${name}/${version}`

describe('plugins of Claude Code', () => {
  it('are read in the installed version, not in another version of the cache', () => {
    const at = claude({ one: { version: '1.10.0' } })
    at.skill(`${cacheOf('one', '1.10.0')}/skills/now`)
    at.skill(`${cacheOf('one', '1.9.0')}/skills/before`)
    at.skill(`${cacheOf('one', '2.0.0')}/skills/later`)
    const { skills } = discoverSkills({ runtime: at.runtime })
    expect(skills).toMatchObject([{ name: 'now', clients: ['claude'], trustLevel: 'trusted' }])
  })

  it.each<[string, ClaudePlugin]>([
    ['is disabled', { enabled: false }],
    ['is enabled for some versions, which the client ignores', { enabled: ['^1.0'] }],
    ['is enabled and not installed', { installed: false }],
    [
      'is installed for another project',
      { installed: { scope: 'project', projectPath: '/elsewhere' } },
    ],
    ['has an invalid manifest', { manifest: '{ "name": ' }],
    ['names a folder without ./', { manifest: { name: 'one', skills: 'skills' } }],
    ['names a folder outside', { manifest: { name: 'one', skills: './../../two' } }],
  ])('are not read if the plugin %s', (_, plugin) => {
    const at = claude({ one: plugin })
    at.skill(`${cacheOf('one')}/skills/deploy`)
    expect(skillsIn(at)).toEqual([])
  })

  it('are not read from an unknown marketplace, nor if the settings do not mention them', () => {
    const at = claude({ one: {}, two: {} })
    for (const name of ['one', 'two']) at.skill(`${cacheOf(name)}/skills/of-${name}`)
    at.write({ 'home/.claude/settings.json': json({ enabledPlugins: { 'one@mk': true } }) })
    expect(skillsIn(at)).toEqual(['of-one'])
    at.write({ 'home/.claude/plugins/known_marketplaces.json': json({}) })
    expect(skillsIn(at)).toEqual([])
  })

  it('can be enabled and disabled by the settings of the project', () => {
    const at = claude({ one: { enabled: undefined }, two: {} })
    for (const name of ['one', 'two']) at.skill(`${cacheOf(name)}/skills/of-${name}`)
    at.write({
      'home/.claude/settings.json': json({ enabledPlugins: { 'two@mk': true } }),
      'project/.claude/settings.json': json({ enabledPlugins: { 'one@mk': true } }),
      'project/.claude/settings.local.json': json({ enabledPlugins: { 'two@mk': false } }),
      'project/deep/x': '',
    })
    expect(skillsIn(at)).toEqual(['of-one'])
    const cwd = join(at.project, 'deep')
    expect(skillsIn({ ...at, runtime: { ...at.runtime, cwd } })).toEqual(['of-one'])
  })

  it('have skills in the standard folder and in the folders of manifest and marketplace', () => {
    const at = claude({
      one: {
        manifest: { name: 'one', skills: ['./extra', './direct', './missing'] },
        entry: { skills: './market' },
      },
      text: { manifest: { name: 'text', skills: './more' } },
      root: {},
      both: {},
      all: { manifest: undefined, entry: { source: './', skills: ['./named'] } },
    })
    const one = cacheOf('one')
    at.skill(`${one}/skills/usual`)
    at.skill(`${one}/skills/group/nested`)
    at.skill(`${one}/extra/added`)
    at.skill(`${one}/direct`)
    at.skill(`${one}/direct/below`)
    at.skill(`${one}/market/listed`)
    at.skill(`${one}/other/unlisted`)
    at.skill(`${cacheOf('text')}/more/texted`)
    at.write({
      [`${cacheOf('root')}/SKILL.md`]: '---\nname: root\ndescription: Root. Use it.\n---\n',
    })
    at.write({
      [`${cacheOf('both')}/SKILL.md`]: '---\nname: both\ndescription: Root. Use it.\n---\n',
    })
    at.skill(`${cacheOf('both')}/skills/inner`)
    at.skill(`${cacheOf('all')}/named`)
    at.skill(`${cacheOf('all')}/skills/unnamed`)
    expect(skillsIn(at)).toEqual(
      ['added', 'direct', 'inner', 'listed', 'named', 'root', 'texted', 'usual'].toSorted(),
    )
  })

  it('are read in place from a marketplace in a folder', () => {
    const at = claude({ one: {} })
    at.write({
      'home/.claude/plugins/known_marketplaces.json': json({
        mk: {
          source: { source: 'directory', path: join(at.root, 'market') },
          installLocation: join(at.root, 'market'),
        },
      }),
      'market/.claude-plugin/marketplace.json': json({
        name: 'mk',
        plugins: [{ name: 'one', source: './plugins/one' }],
      }),
    })
    at.skill('market/plugins/one/skills/live')
    at.skill(`${cacheOf('one')}/skills/copied`)
    expect(skillsIn(at)).toEqual(['live'])
  })

  it('are found in CLAUDE_CONFIG_DIR', () => {
    const at = claude({ one: {} }, 'moved')
    at.skill(`${cacheOf('one', '1.9.0', 'moved')}/skills/deploy`)
    expect(skillsIn(at)).toEqual([])
    expect(skillsIn(at, { CLAUDE_CONFIG_DIR: join(at.home, 'moved') })).toEqual(['deploy'])
  })

  it.each([
    'plugins/installed_plugins.json',
    'plugins/known_marketplaces.json',
    'plugins/marketplaces/mk/.claude-plugin/marketplace.json',
    'settings.json',
  ])('are not read if %s cannot be read', (path) => {
    const wrong = '{ "plugins": "x", "enabledPlugins": "x", "mk": "x" }'
    for (const text of ['{ ', '[]', '// a comment\n{}', wrong, 'null']) {
      const at = claude({ one: {} })
      at.skill(`${cacheOf('one')}/skills/deploy`)
      at.skill('home/.claude/skills/own')
      at.write({ [`home/.claude/${path}`]: text })
      expect([text, skillsIn(at), unreadable(at)]).toEqual([
        text,
        ['own'],
        [join(at.home, '.claude', path)],
      ])
    }
  })
})

describe('plugins of Codex', () => {
  const cache = 'home/.codex/plugins/cache/mk'
  function codex(configuration: string, manifest: unknown = { name: 'one' }): Fixture {
    const at = fixture()
    at.write({
      'home/.codex/config.toml': `model = "x"\n\n[marketplaces.mk]\nsource_type = "git"\nsource = "https://example.com/market.git"\n\n${configuration}`,
      [`${cache}/one/1.9.0/.codex-plugin/plugin.json`]: json(manifest),
    })
    return at
  }
  const enabled = '[plugins."one@mk"]\nenabled = true\n'

  it.each([
    [enabled, ['deep', 'deploy']],
    ['[plugins."one@mk"]\n', ['deep', 'deploy']],
    ['[plugins."one@mk"]\nenabled = false\n', []],
    ['', []],
    [`${enabled}\n[features]\nplugins = false\n`, []],
    ['[plugins."one@mk"\n', []],
    ['plugins = 1\n', []],
  ])('are read if config.toml enables them: %j', (configuration, names) => {
    const at = codex(configuration)
    at.skill(`${cache}/one/1.9.0/skills/deploy`)
    at.skill(`${cache}/one/1.9.0/skills/group/deep`)
    at.skill(`${cache}/two/1.0.0/skills/other`)
    expect(skillsIn(at)).toEqual(names)
  })

  it('can be switched off by any project, and on only by a trusted project', () => {
    const off = codex(enabled)
    off.skill(`${cache}/one/1.9.0/skills/deploy`)
    off.write({ 'project/.codex/config.toml': '[plugins."one@mk"]\nenabled = false\n' })
    expect(skillsIn(off)).toEqual([])
    const at = codex('')
    at.skill(`${cache}/one/1.9.0/skills/deploy`)
    at.write({ 'project/.codex/config.toml': enabled })
    expect(skillsIn(at)).toEqual([])
    at.write({ 'home/.codex/config.toml': `[projects."${at.project}"]\ntrust_level = "trusted"\n` })
    expect(skillsIn(at)).toEqual(['deploy'])
  })

  it.each([
    [{ name: 'one', skills: './extra' }, ['added']],
    [{ name: 'one', skills: ['./extra', './direct'] }, ['added', 'direct']],
    [{ name: 'one', skills: 'extra' }, ['usual']],
    [{ name: 'one', skills: './../x' }, ['usual']],
    [{ name: 'one', skills: './missing' }, []],
    [{ name: 'one', skills: './' }, ['usual']],
  ])('have skills by their manifest: %j gives %j', (manifest, names) => {
    const at = codex(enabled, manifest)
    at.skill(`${cache}/one/1.9.0/skills/usual`)
    at.skill(`${cache}/one/1.9.0/extra/added`)
    at.skill(`${cache}/one/1.9.0/direct`)
    at.write({ [`${cache}/one/1.9.0/SKILL.md`]: '---\nname: root\ndescription: x\n---\n' })
    expect(skillsIn(at)).toEqual(names)
  })

  it('need a manifest', () => {
    const at = codex('[plugins."two@mk"]\nenabled = true\n')
    at.skill(`${cache}/two/1.0.0/skills/deploy`)
    expect(skillsIn(at)).toEqual([])
  })

  it('are read in the newest version of the cache, or in the local one', () => {
    expect(codexVersion(['1.9.0', '1.10.0'])).toBe('1.10.0')
    expect(codexVersion(['9.9.9', 'local'])).toBe('local')
    expect(codexVersion(['1.0.0-beta.2', '1.0.0-beta.10'])).toBe('1.0.0-beta.10')
    expect(codexVersion(['1.0.0', '1.0.0-beta.10'])).toBe('1.0.0')
    expect(codexVersion(['0a1b2c3d', 'ffff0000'])).toBe('ffff0000')
    expect(codexVersion([])).toBeUndefined()
    const part = fc.nat({ max: 30 })
    fc.assert(
      fc.property(fc.array(fc.tuple(part, part, part), { minLength: 1 }), (versions) => {
        const newest = versions.toSorted((a, b) => a[0] - b[0] || a[1] - b[1] || a[2] - b[2]).at(-1)
        expect(codexVersion(versions.map((one) => one.join('.')))).toBe(newest?.join('.'))
      }),
    )
  })
})

describe('plugins of Copilot CLI', () => {
  const folder = 'home/.copilot/installed-plugins/mk/one'
  function copilot({
    on,
    record = {},
    manifest = { name: 'one' },
  }: {
    on?: unknown
    record?: object | undefined
    manifest?: unknown
  }): Fixture {
    const at = fixture()
    const plugin = {
      name: 'one',
      marketplace: 'mk',
      installed_at: '2026-11-28T15:07:53.977527347Z',
      enabled: true,
      version: '1.9.0',
      cache_path: join(at.root, folder),
      ...record,
    }
    at.write({
      'home/.copilot/config.json': `// This file is managed automatically.\n${json({ installedPlugins: [plugin] })}`,
      'home/.copilot/settings.json': json(
        on === undefined ? {} : { enabledPlugins: { 'one@mk': on } },
      ),
      [`${folder}/.claude-plugin/plugin.json`]: json(manifest),
    })
    at.skill(`${folder}/skills/deploy`)
    at.skill(`${folder}/skills/group/deep`)
    at.skill(`${folder}/extra/added`)
    return at
  }

  it.each([
    [{ on: true }, ['deep', 'deploy']],
    [{ on: false }, []],
    [{}, []],
    [{ on: 'yes' }, []],
    [{ on: true, record: { enabled: false } }, ['deep', 'deploy']],
    [{ record: { marketplace: '' } }, ['deep', 'deploy']],
    [{ record: { marketplace: '', enabled: false } }, []],
    [{ on: true, manifest: { name: 'one', skills: 'extra' } }, ['added']],
    [
      { on: true, manifest: { name: 'one', skills: ['./extra', './skills'] } },
      ['added', 'deep', 'deploy'],
    ],
    [{ on: true, manifest: { name: 'one', skills: '../../..' } }, []],
    [{ on: true, manifest: { name: 'one', skills: './missing' } }, []],
  ])('have skills by their files: %j gives %j', (facts, names) => {
    expect(skillsIn(copilot(facts))).toEqual(names)
  })

  it.each(['config.json', 'settings.json'])('are not read if %s cannot be read', (path) => {
    const at = copilot({ on: true })
    at.write({ [`home/.copilot/${path}`]: '{ "installedPlugins": 1, "enabledPlugins": 1 }' })
    expect(skillsIn(at)).toEqual([])
    expect(unreadable(at)).toEqual([join(at.home, '.copilot', path)])
  })

  it('are read in place from a marketplace in a folder', () => {
    const at = fixture()
    const market = join(at.root, 'market')
    at.write({
      'home/.copilot/settings.json': json({
        enabledPlugins: { 'one@mk': true, 'two@mk': false },
        extraKnownMarketplaces: { mk: { source: { source: 'directory', path: market } } },
      }),
      'market/.claude-plugin/marketplace.json': json({
        plugins: ['one', 'two'].map((name) => ({ name, source: `./${name}` })),
      }),
      'market/one/SKILL.md': '---\nname: one\ndescription: One. Use it.\n---\n',
    })
    at.skill('market/two/skills/other')
    expect(skillsIn(at)).toEqual(['one'])
  })
})

describe.each(['gemini', 'qwen'] as const)('extensions of %s', (client) => {
  const folder = `home/.${client}/extensions`
  function extensions(rules?: unknown, more: object = {}): Fixture {
    const at = fixture()
    at.write({
      [`${folder}/one/${client}-extension.json`]: json({ name: 'one', version: '1.9.0', ...more }),
      [`${folder}/one/.${client}-extension-install.json`]: json({
        source: join(at.root, 'source'),
        type: 'local',
      }),
      ...(rules === undefined ? {} : { [`${folder}/extension-enablement.json`]: json(rules) }),
    })
    at.skill(`${folder}/one/skills/deploy`)
    at.skill(`${folder}/one/skills/group/deep`)
    at.skill(`${folder}/one/extra/added`)
    return at
  }

  it('have the skills of their folder, whatever their manifest names', () => {
    expect(skillsIn(extensions(undefined, { skills: './extra' }))).toEqual(['deploy'])
  })

  it('are switched off by the last rule that matches the folder', () => {
    const at = extensions()
    const rules = (...overrides: string[]) =>
      at.write({ [`${folder}/extension-enablement.json`]: json({ one: { overrides } }) })
    rules(`!${at.root}/*`)
    expect(skillsIn(at)).toEqual([])
    rules(`${at.root}/*`, `!${at.project}/*`)
    expect(skillsIn(at)).toEqual([])
    rules(`!${at.root}/*`, `${at.project}/*`)
    expect(skillsIn(at)).toEqual(['deploy'])
  })

  it('are not read without a manifest, nor if the rules cannot be read', () => {
    const at = extensions()
    at.skill(`${folder}/two/skills/other`)
    expect(skillsIn(at)).toEqual(['deploy'])
    at.write({ [`${folder}/extension-enablement.json`]: '{ "one"' })
    expect(skillsIn(at)).toEqual([])
    expect(unreadable(at)).toEqual([join(at.root, folder, 'extension-enablement.json')])
  })

  it('are read through a link', () => {
    const at = extensions()
    at.write({
      [`${folder}/linked/.${client}-extension-install.json`]: json({
        source: join(at.root, 'source'),
        type: 'link',
      }),
      [`source/${client}-extension.json`]: json({ name: 'linked' }),
    })
    at.skill('source/skills/live')
    expect(skillsIn(at)).toEqual(['deploy', 'live'])
  })
})

it('an extension of Gemini CLI can have a skill directly in its folder of skills', () => {
  const at = fixture()
  at.write({
    'home/.gemini/extensions/one/gemini-extension.json': json({ name: 'one' }),
    'home/.gemini/extensions/one/skills/SKILL.md':
      '---\nname: whole\ndescription: x. Use it.\n---\n',
  })
  at.skill('home/.gemini/extensions/one/skills/part')
  expect(skillsIn(at)).toEqual(['part', 'whole'])
})

it.each([
  [{ defaultActivation: 'enabled' }, ['deploy']],
  [{ defaultActivation: 'disabled' }, []],
  [{ defaultActivation: 'disabled', workspaceOverrides: { here: 'enabled' } }, ['deploy']],
  [{ defaultActivation: 'enabled', workspaceOverrides: { here: 'disabled' } }, []],
  [{ defaultActivation: 'enabled', workspaceOverrides: { here: 'inherit' } }, ['deploy']],
  [{ defaultActivation: 'enabled', legacyPathRules: ['!here/*'] }, []],
  [{ defaultActivation: 'enabled', workspaceOverrides: { '/elsewhere': 'disabled' } }, ['deploy']],
])('an extension of Qwen Code with the policy %j has the skills %j', (policy, names) => {
  const at = fixture()
  const text = json({ version: 2, generation: 4, extensions: { abc: { name: 'one', ...policy } } })
  at.write({
    'home/.qwen/extensions/one/qwen-extension.json': json({ name: 'one', version: '1.0.0' }),
    'home/.qwen/extension-store/state.json': text.replaceAll('here', at.project),
  })
  at.skill('home/.qwen/extensions/one/skills/deploy')
  expect(skillsIn(at)).toEqual(names)
})

it('reads the rules of extensions literally, except for the star', () => {
  expect(isEnabledHere(['!/a.b/*'], ['/axb'])).toBe(true)
  expect(isEnabledHere(['!/a.b/*'], ['/a.b'])).toBe(false)
  expect(isEnabledHere(['!/a/'], ['/a/b'])).toBe(true)
  expect(isEnabledHere([], ['/a'], false)).toBe(false)
})

it('a plugin cannot lead out of itself by a link', () => {
  const at = claude({ one: { manifest: { name: 'one', skills: './out' } } })
  at.skill('elsewhere/secret')
  mkdirSync(join(at.root, cacheOf('one')), { recursive: true })
  symlinkSync(join(at.root, 'elsewhere'), join(at.root, cacheOf('one'), 'out'))
  expect(skillsIn(at)).toEqual([])
})
