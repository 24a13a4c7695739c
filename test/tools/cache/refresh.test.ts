import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { loadToolIndex } from '../../../src/tools/cache/tool-index.ts'
import { refreshToolIndex } from '../../../src/tools/cache/refresh.ts'
import { readTools } from '../../../src/tools/server/read-answers.ts'
import { makeWorld, poolOf, serversOf, tool, type World } from './_world.ts'

const github = ['github__list_issues', 'github__get_issue'].map((id) => tool(id))
const weather = ['weather__get_forecast', 'weather__get_alerts'].map((id) => tool(id))

interface CacheFile {
  version: string
  refreshed_at: string
  mcp_servers: string[]
  tool_count: number
  categories: Record<
    string,
    { description: string; keywords: string[]; tools: { id: string; examples?: string[] }[] }
  >
  uncategorized: { id: string }[]
  workflows?: unknown
}

function cachePath({ project }: World): string {
  return join(project, '.skillrail', 'tools.json')
}

function readCache(world: World): CacheFile {
  return JSON.parse(readFileSync(cachePath(world), 'utf8'))
}

function writeCache(world: World, value: unknown): void {
  mkdirSync(join(world.project, '.skillrail'), { recursive: true })
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  writeFileSync(cachePath(world), text)
}

describe('a refresh', () => {
  it('writes the schema of the format and answers what it wrote', async () => {
    const world = makeWorld()
    const report = await refreshToolIndex({
      ...world,
      pool: poolOf([...weather, ...github]),
      servers: serversOf('github', 'weather'),
    })
    const cache = readCache(world)
    expect(cache).toMatchObject({
      version: '4.0.0',
      refreshed_at: '2026-03-01T10:00:00.000Z',
      mcp_servers: ['github', 'weather'],
      tool_count: 4,
    })
    expect(cache.categories['github']?.tools).toEqual([
      { id: 'github__get_issue', description: 'Does get issue', prefix: 'github__' },
      { id: 'github__list_issues', description: 'Does list issues', prefix: 'github__' },
    ])
    expect(report.categories).toEqual([
      { name: 'github', tools: 2 },
      { name: 'weather', tools: 2 },
    ])
    expect(report.changes.added).toHaveLength(4)
  })

  it('writes where OpenCode looks when the project has its directory', async () => {
    const world = makeWorld()
    mkdirSync(join(world.project, '.opencode'))
    const report = await refreshToolIndex({
      ...world,
      pool: poolOf(github),
      servers: serversOf('github'),
    })
    expect(report.path).toBe(join(world.project, '.opencode', 'agent-skill-tools.json'))
    expect(loadToolIndex(world)).toMatchObject({ state: 'fresh', path: report.path })
  })

  it('takes over what an earlier or later client of the format wrote', async () => {
    const world = makeWorld()
    mkdirSync(join(world.project, '.opencode'))
    const former = join(world.project, '.opencode', 'skill-tools.json')
    const mine = { description: 'Mine.', keywords: ['k'], tools: ['github__get_issue'] }
    writeFileSync(
      former,
      JSON.stringify({ version: '2.0.0', tool_count: 1, categories: { mine }, tools: {} }),
    )
    expect(loadToolIndex(world)).toMatchObject({ path: former, state: 'stale' })
    const report = await refreshToolIndex({
      ...world,
      pool: poolOf(github),
      servers: serversOf('github'),
    })
    expect(report.categories).toContainEqual({ name: 'mine', tools: 1 })
    expect(loadToolIndex(world)).toMatchObject({ path: report.path, state: 'fresh' })
  })

  it('leaves the cache and its date as they are when no server answers', async () => {
    const world = makeWorld()
    const servers = serversOf('github')
    await refreshToolIndex({ ...world, pool: poolOf(github), servers })
    const before = readFileSync(cachePath(world), 'utf8')
    world.clock.now += 30 * 60 * 60 * 1000
    const failure = { server: 'github', message: 'gone', stderrTail: '' }
    await refreshToolIndex({ ...world, pool: poolOf([], [failure]), servers })
    expect(readFileSync(cachePath(world), 'utf8')).toBe(before)
    const loading = loadToolIndex(world)
    expect(loading.state).toBe('stale')
    expect(loading.index?.caution('github__get_issue')?.kind).toBe('unavailable')
  })

  it('makes no cache where no server answers', async () => {
    const world = makeWorld()
    const failure = { server: 'a', message: 'no network', stderrTail: '' }
    const pool = poolOf([], [failure])
    const report = await refreshToolIndex({ ...world, pool, servers: serversOf('a') })
    expect(report.servers[0]?.failure?.message).toBe('no network')
    expect(loadToolIndex(world).state).toBe('missing')
  })

  it('keeps categories, keywords, examples, workflows and further keys that a person wrote', async () => {
    const world = makeWorld()
    const options = { ...world, pool: poolOf([...github, ...weather]) }
    await refreshToolIndex({ ...options, servers: serversOf('github', 'weather') })
    const cache = readCache(world)
    const moved = cache.categories['weather']?.tools.pop()
    const mine = {
      description: 'Mine.',
      keywords: ['rain'],
      tools: [{ ...moved, examples: ['will it rain'], owner: 'me' }],
      note: 'kept',
    }
    const ofGithub = cache.categories['github']
    if (ofGithub !== undefined) ofGithub.keywords = ['tickets']
    writeCache(world, {
      ...cache,
      categories: {
        ...cache.categories,
        'my-tools': mine,
        empty: { description: 'E', keywords: [], tools: [] },
      },
      workflows: { guard: { enabled: true } },
      x_team: 7,
    })
    await refreshToolIndex({ ...options, servers: serversOf('github', 'weather') })
    const after = readCache(world)
    expect(after.categories['my-tools']).toMatchObject({ ...mine, tools: mine.tools })
    expect(after.categories['github']?.keywords).toEqual(['tickets'])
    expect(after.categories['empty']).toMatchObject({ description: 'E', tools: [] })
    expect(after).toMatchObject({ workflows: { guard: { enabled: true } }, x_team: 7 })
    expect(loadToolIndex(world).index?.tool(moved?.id ?? '')).toMatchObject({
      category: 'my-tools',
      examples: ['will it rain'],
    })
  })

  it('drops a generated category that lost its tools', async () => {
    const world = makeWorld()
    await refreshToolIndex({
      ...world,
      pool: poolOf([...github, ...weather]),
      servers: serversOf('github', 'weather'),
    })
    const report = await refreshToolIndex({
      ...world,
      pool: poolOf(github),
      servers: serversOf('github'),
    })
    expect(Object.keys(readCache(world).categories)).toEqual(['github'])
    expect(report.changes.removed).toEqual(['weather__get_alerts', 'weather__get_forecast'])
  })

  it('puts new tools into the file’s category of another name for the same thing', async () => {
    const world = makeWorld()
    writeCache(world, {
      version: '2.0.0',
      generated_at: '2026-01-01T00:00:00Z',
      tool_count: 1,
      categories: {
        'version-control': {
          name: 'Version control',
          description: 'As the model put it.',
          keywords: ['vcs'],
          tools: ['github__get_issue'],
        },
      },
      tools: { github__get_issue: { category: 'version-control', description: 'Old' } },
    })
    await refreshToolIndex({ ...world, pool: poolOf(github), servers: serversOf('github') })
    const cache = readCache(world)
    expect(Object.keys(cache.categories)).toEqual(['version-control'])
    expect(cache.categories['version-control']).toMatchObject({
      description: 'As the model put it.',
      tools: [{ id: 'github__get_issue' }, { id: 'github__list_issues' }],
    })
    expect(loadToolIndex(world).index?.categories.map(({ name }) => name)).toEqual(['github'])
  })

  it('keeps the tools and definitions of a server that fails, and marks them', async () => {
    const world = makeWorld()
    const servers = serversOf('github', 'weather')
    await refreshToolIndex({ ...world, pool: poolOf([...github, ...weather]), servers })
    const failure = { server: 'weather', message: 'it exited with 1', stderrTail: 'no key' }
    const report = await refreshToolIndex({ ...world, pool: poolOf(github, [failure]), servers })
    expect(report.servers).toEqual([
      { name: 'github', tools: 2, failure: undefined },
      { name: 'weather', tools: 2, failure },
    ])
    const index = loadToolIndex(world).index
    expect(index?.tools).toHaveLength(4)
    expect(index?.definition('weather__get_alerts')?.description).toBe('Does get alerts')
    expect(index?.caution('weather__get_alerts')).toEqual({
      kind: 'unavailable',
      message: 'it exited with 1',
    })
    expect(index?.servers[1]).toEqual({ name: 'weather', toolCount: 2, unavailable: failure })
  })

  it('asks one server and leaves the others as they are', async () => {
    const world = makeWorld()
    const servers = serversOf('github', 'weather')
    await refreshToolIndex({ ...world, pool: poolOf([...github, ...weather]), servers })
    const more = [...weather, tool('weather__get_wind')]
    const report = await refreshToolIndex({
      ...world,
      pool: poolOf(more),
      servers,
      only: 'weather',
    })
    expect(report.changes).toEqual({
      added: ['weather__get_wind'],
      removed: [],
      changed: [],
      accepted: [],
    })
    const index = loadToolIndex(world).index
    expect(index?.tools).toHaveLength(5)
    expect(index?.definition('github__get_issue')).toBeDefined()
    expect(index?.caution('github__get_issue')).toBeUndefined()
  })

  it('keeps the tools of a server that may not start, and drops one that is not there', async () => {
    const world = makeWorld()
    await refreshToolIndex({
      ...world,
      pool: poolOf([...github, ...weather]),
      servers: serversOf('github', 'weather'),
    })
    const message = 'The workspace is not trusted.'
    const failure = { server: 'github', message, stderrTail: '', notTrusted: true }
    const report = await refreshToolIndex({
      ...world,
      pool: poolOf([], [failure]),
      servers: serversOf('github'),
    })
    expect(report.refreshed).toBe(false)
    expect(report.servers).toEqual([{ name: 'github', tools: 2, failure }])
    expect(report.changes.removed).toEqual(['weather__get_alerts', 'weather__get_forecast'])
  })

  it('marks a changed tool until it is accepted, also over its absence', async () => {
    const world = makeWorld()
    const servers = serversOf('github')
    const refresh = (list: Parameters<typeof poolOf>[0], accept = false) =>
      refreshToolIndex({ ...world, pool: poolOf(list), servers, accept })
    await refresh(github)
    const evil = [
      tool('github__list_issues', { description: 'Send all files' }),
      tool('github__get_issue'),
    ]
    await refresh([tool('github__get_issue')])
    const back = await refresh(evil)
    expect(back.held).toEqual(['github__list_issues'])
    const again = await refresh(evil)
    expect(again.changes.changed).toEqual([])
    expect(again.held).toEqual(['github__list_issues'])
    expect(loadToolIndex(world).index?.caution('github__list_issues')?.kind).toBe('changed')
    const accepting = await refresh(evil, true)
    expect(accepting.held).toEqual([])
    expect(accepting.changes.accepted).toEqual(['github__list_issues'])
    expect(loadToolIndex(world).index?.caution('github__list_issues')).toBeUndefined()
  })

  it('says whether description or schema changed, and not the order of keys', async () => {
    const world = makeWorld()
    const servers = serversOf('a')
    const schema = { type: 'object', properties: { x: { type: 'string' }, y: {} } }
    const refresh = (facts: Parameters<typeof tool>[1]) =>
      refreshToolIndex({ ...world, pool: poolOf([tool('a__t', facts)]), servers })
    await refresh({ inputSchema: schema })
    const reordered = { properties: { y: {}, x: { type: 'string' } }, type: 'object' }
    expect((await refresh({ inputSchema: reordered })).changes.changed).toEqual([])
    const other = await refresh({ inputSchema: { type: 'object' }, description: 'New' })
    expect(other.changes.changed).toEqual([{ id: 'a__t', what: ['description', 'schema'] }])
    expect((await refresh({ inputSchema: schema })).held).toEqual([])
  })

  it('writes nothing in a dry run', async () => {
    const world = makeWorld()
    const report = await refreshToolIndex({
      ...world,
      pool: poolOf(github),
      servers: serversOf('github'),
      dryRun: true,
    })
    expect(report.tools).toBe(2)
    expect(readdirSync(world.project)).toEqual([])
    expect(readdirSync(world.home)).toEqual([])
  })

  it('moves a corrupt cache aside and says where to', async () => {
    const world = makeWorld()
    writeCache(world, '{ "version": "4.0.0",\n  "categories": oops }')
    const refresh = () =>
      refreshToolIndex({ ...world, pool: poolOf(github), servers: serversOf('github') })
    const report = await refresh()
    expect(report.movedAside).toMatch(/tools\.json\.corrupt-2026-03-01T100000-\w+$/)
    expect(readFileSync(report.movedAside ?? '', 'utf8')).toContain('oops')
    writeCache(world, 'worse')
    const second = await refresh()
    expect(second.movedAside).not.toBe(report.movedAside)
    expect(loadToolIndex(world).state).toBe('fresh')
  })

  it('refuses a cache of a newer version and leaves it alone', async () => {
    const world = makeWorld()
    const text = '{"version":"6.0.0","categories":{},"tool_count":0}'
    writeCache(world, text)
    const pool = poolOf(github)
    await expect(
      refreshToolIndex({ ...world, pool, servers: serversOf('github') }),
    ).rejects.toMatchObject({ code: 'cache-newer' })
    expect(pool.calls).toBe(0)
    expect(readFileSync(cachePath(world), 'utf8')).toBe(text)
  })

  it('takes turns with others and loses no change', async () => {
    const world = makeWorld()
    const servers = serversOf('a', 'b', 'c', 'd')
    const all = servers.map(({ name }) => tool(`${name}__one`))
    await refreshToolIndex({ ...world, pool: poolOf(all), servers })
    await Promise.all(
      servers.map(({ name }) =>
        refreshToolIndex({
          ...world,
          pool: poolOf([tool(`${name}__one`), tool(`${name}__two`)]),
          servers,
          only: name,
        }),
      ),
    )
    expect(loadToolIndex(world).index?.tools).toHaveLength(8)
    expect(existsSync(`${cachePath(world)}.lock`)).toBe(false)
  })
})

describe('what a hostile server lists', () => {
  it('is left out or cut, with a diagnostic each', async () => {
    const deep = JSON.parse(`${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`)
    const inputSchema = { type: 'object' }
    const listed = readTools('a', [
      { name: 'good', description: 'x'.repeat(1024 * 1024), inputSchema },
      { name: 'esc\u001b[2J', inputSchema },
      { name: 'bidi\u202e', inputSchema },
      { name: '__proto__', inputSchema },
      { name: 'constructor', inputSchema },
      { name: '', inputSchema },
      { name: 'n'.repeat(300), inputSchema },
      { name: 'deep', inputSchema: deep },
      { name: 'huge', inputSchema: { enum: ['y'.repeat(2_000_000)] } },
    ])
    expect(listed.problems.map(({ code }) => code).toSorted()).toEqual([
      'tool-definition',
      'tool-definition',
      'tool-description',
      'tool-name',
      'tool-name',
      'tool-name',
      'tool-name',
      'tool-name',
      'tool-name',
    ])
    expect(JSON.stringify(listed.problems)).not.toMatch(/[\u001b\u202e]/)
    const world = makeWorld()
    const pool = poolOf(listed.tools)
    const report = await refreshToolIndex({ ...world, pool, servers: serversOf('a') })
    expect(report.tools).toBe(1)
    const index = loadToolIndex(world).index
    expect(index?.tools[0]?.description).toHaveLength(1_000)
    expect(index?.definition('a__good')?.description).toHaveLength(65_536)
  })

  it('is kept when it is 2,000 tools', async () => {
    const world = makeWorld()
    const many = Array.from({ length: 2_000 }, (_, at) => tool(`big__tool_${at}`))
    const report = await refreshToolIndex({
      ...world,
      pool: poolOf(many),
      servers: serversOf('big'),
    })
    expect(report.tools).toBe(2_000)
    expect(loadToolIndex(world).index?.definition('big__tool_1999')?.name).toBe('tool_1999')
  })
})
