import { createServer } from 'node:net'
import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runInProcess } from '../run-in-process.ts'
import { startView, type ViewProcess } from './_command.ts'
import { makeViewProject, type ViewProject } from './_project.ts'
import { tokenFor } from './_view.ts'

let project: ViewProject
let view: ViewProcess

beforeAll(async () => {
  project = makeViewProject()
  await cli('trust', '--yes')
  await Promise.all([cli('run', 'nightly'), cli('run', 'release', 'now')])
  view = await startView(project.directory, project.home)
}, 60_000)
afterAll(async () => {
  await view.interrupt()
  project.remove()
})

const cli = async (...args: string[]): Promise<ReturnType<typeof JSON.parse>> => {
  const { stdout } = await runInProcess([...args, '--json'], {
    cwd: project.directory,
    home: project.home,
  })
  return stdout.startsWith('{') ? JSON.parse(stdout) : undefined
}

describe('skillrail view', () => {
  it('lists skills as list does, with their hidden text and their errors', async () => {
    const { skills, diagnostics } = await view.ask('skills')
    const listed = await cli('list', '--all')
    const factsOf = (all: readonly Record<string, unknown>[]) =>
      all.map(({ name, path, scope, trust, tokens, shadows, shadowedBy, source }) => {
        return { name, path, scope, trust, tokens, shadows, shadowedBy, source }
      })
    const own = skills.filter(({ standing }: { standing: string }) => standing !== 'broken')
    expect(factsOf(own)).toEqual(factsOf(listed.skills))
    expect(diagnostics).toEqual(listed.diagnostics)
    expect(skills).toContainEqual(
      expect.objectContaining({ name: 'broken', standing: 'broken', trust: 'broken' }),
    )
    expect(skills).toContainEqual(
      expect.objectContaining({ description: 'An older one.', standing: 'shadowed' }),
    )
  })

  it('shows a skill and its text', async () => {
    const id = await idOf('deploy-staging')
    expect(await view.ask('skill', { id })).toMatchObject({
      name: 'deploy-staging',
      trust: 'trusted',
      fields: { triggers: [{ match: 'deploy (to )?staging', line: 5 }, { match: 'rollback' }] },
      resources: [
        { path: 'references/rollback.md' },
        { path: 'references/staging.md' },
        { path: 'scripts/run.sh' },
      ],
    })
    const path = join(project.directory, '.skillrail/skills/deploy-staging/SKILL.md')
    expect((await view.ask('skill-text', { id })).text).toBe(readFileSync(path, 'utf8'))
  })

  it('says why a skill cannot be used, and still shows its text', async () => {
    const id = await idOf('broken')
    const { error } = await view.ask('skill', { id })
    expect(error.message).toMatch(/broken\/SKILL\.md cannot be used: The YAML cannot be read/)
    expect((await view.ask('skill-text', { id })).text).toContain('description: [a')
  })

  it('reads no file outside of the skill through a link', async () => {
    const secret = join(project.home, 'secret.txt')
    writeFileSync(secret, 'of somebody else')
    const folder = join(project.directory, '.skillrail/skills/lnk')
    mkdirSync(folder)
    symlinkSync(secret, join(folder, 'SKILL.md'))
    const answer = await view.ask('skill-text', { id: await idOf('lnk') })
    rmSync(folder, { recursive: true })
    expect(answer.error.message).toContain('SKILL.md leads out of')
    expect(JSON.stringify(answer)).not.toContain('of somebody else')
  })

  it('finds a skill only by its ID, never by a path', async () => {
    for (const id of [
      '',
      '../../etc',
      '/etc/passwd',
      join(project.directory, '.skillrail/skills/release'),
    ]) {
      expect((await view.ask('skill-text', { id })).error.code).toBe('skill-not-found')
    }
  })

  it('matches a tool call as match does', async () => {
    const { call, ...matched } = await cli('triggers', 'match', '--file', 'src/a.ts')
    expect(call).toMatchObject({ kind: 'edit' })
    expect(await view.ask('match', { prompt: 'src/a.ts', on: 'edit' })).toMatchObject(matched)
  })

  it('matches a prompt as match does', async () => {
    const prompt = 'deploy to staging\nROLLBACK'
    const { explanation, triggers, quiet, untried, ...answer } = await view.ask('match', { prompt })
    const { explanation: all, ...matched } = await cli('triggers', 'match', '--explain', prompt)
    expect(answer).toEqual(matched)
    const said = all.flatMap(({ verdicts }: { verdicts: { outcome: string }[] }) => verdicts)
    expect({ triggers, quiet, untried }).toEqual({ triggers: said.length, quiet: 0, untried: 0 })
    expect(explanation[0].verdicts.map(({ outcome }: { outcome: string }) => outcome)).toEqual([
      'fired',
      'near-miss',
    ])
  })

  it('counts the triggers that it did not check, if there are very many', async () => {
    const folder = '.skillrail/skills'
    const names = ['many-a', 'many-b', 'many-c', 'many-d', 'many-e']
    const triggers = Array.from(
      { length: 120 },
      (_, at) => `  - match: Deploy number( ${at + 1000})?\n    inject: a.md\n`,
    )
    for (const name of names) {
      const fields = `name: ${name}\ndescription: D.\ntriggers:\n${triggers.join('')}`
      project.write(`${folder}/${name}/SKILL.md`, `---\n${fields}---\nBody.\n`)
    }
    const {
      explanation,
      triggers: all,
      quiet,
      untried,
    } = await view.ask('match', {
      prompt: 'deploy staging, then deploy number',
    })
    for (const name of names) rmSync(join(project.directory, folder, name), { recursive: true })
    const [first] = explanation
    expect(first.verdicts[0].outcome).toBe('fired')
    const said = explanation.flatMap(({ verdicts }: { verdicts: object[] }) => verdicts).length
    expect(untried).toBeGreaterThan(0)
    expect(said + quiet + untried).toBe(all)
    expect(all).toBe(602)
  })

  it('plans a chain as chain plan does', async () => {
    const { chains } = await view.ask('chains')
    expect(chains.map(({ name }: { name: string }) => name)).toEqual(['nightly', 'release'])
    const { graph, policy, skill, digest } = await view.ask('plan', { id: await idOf('release') })
    const plan = await cli('chain', 'plan', 'release')
    expect({ skill, digest }).toEqual({ skill: plan.skill, digest: plan.digest })
    expect(graph.flat()).toMatchObject([
      { step: 'unit-tests', by: 'script scripts/run.sh', words: [] },
      { step: 'deploy-staging', words: ['gate'] },
    ])
    expect(policy).toEqual([])
  })

  it('lists runs as runs list does, and shows what failed and what waits', async () => {
    const { runs, total } = await view.ask('runs', { most: 10 })
    expect(runs).toEqual((await cli('runs', 'list')).runs)
    expect(total).toBe(2)
    const [failed, waiting] = ['nightly', 'release'].map((name) =>
      runs.find(({ skill }: { skill: string }) => skill === name),
    )
    expect(await view.ask('run', { id: failed.runId })).toMatchObject({
      status: 'failure',
      failedFirst: 'e2e-tests',
      next: [{ line: `skillrail runs retry ${failed.runId}` }],
    })
    const question = { id: failed.runId, attempt: 1, step: 'e2e-tests', part: 'log' }
    expect((await view.ask('step-text', question)).text).toContain('expected 200, got 503')
    expect(await view.ask('run', { id: waiting.runId })).toMatchObject({
      status: 'waiting',
      arguments: ['now'],
      next: [
        { line: `skillrail runs approve ${waiting.runId}` },
        { line: `skillrail runs reject ${waiting.runId}` },
      ],
    })
    expect((await view.ask('runs', { most: 1 })).runs).toHaveLength(1)
  })

  it('follows a running run', async () => {
    project.write('hold', '')
    const running = cli('run', 'nightly')
    const run = await untilTrue(async () => {
      const { runs } = await view.ask('runs', { most: 10 })
      const first = runs.find(({ status }: { status: string }) => status === 'running')
      if (first === undefined) return undefined
      const answer = await view.ask('run', { id: first.runId })
      return answer.attempts?.[0]?.steps[1]?.status === 'running' ? answer : undefined
    })
    expect(run).toMatchObject({ status: 'running', next: [] })
    expect(run.attempts[0].steps.map(({ status }: { status: string }) => status)).toEqual([
      'failure',
      'running',
    ])
    rmSync(join(project.directory, 'hold'))
    await running
    expect(await view.ask('run', { id: run.runId })).toMatchObject({ status: 'failure' })
  })

  it.each(['../../../etc/passwd', '', 'x.jsonl', '0'.repeat(41)])(
    'finds no run for %j',
    async (id) => {
      expect((await view.ask('run', { id })).error.code).toBe('run-id-malformed')
    },
  )

  it('shows tools and servers without starting one', async () => {
    const { tools, servers, state } = await view.ask('tools')
    expect(tools.map(({ id }: { id: string }) => id)).toEqual([
      'database__execute_query',
      'database__list_tables',
    ])
    expect(state).toBe('stale')
    expect(servers).toMatchObject([
      { name: 'database', state: 'usable', address: 'no-such-server --api-key [redacted]' },
    ])
    expect(await view.ask('tool', { id: 'database__execute_query' })).toMatchObject({
      tool: { category: 'database' },
      guards: [{ name: 'database', mode: 'enforce' }],
    })
    expect((await view.ask('tool', { id: 'database__nothing' })).error.code).toBe('tool-not-found')
  })

  it('says why it lists no tool: not yet, damaged, not trusted, none', async () => {
    const path = join(project.directory, '.skillrail/tools.json')
    const kept = readFileSync(path, 'utf8')
    const asked = async (): Promise<{ message: string; hint: string }> =>
      (await view.ask('tool', { id: 'database__execute_query' })).error
    rmSync(path)
    expect(await asked()).toMatchObject({
      message: 'the tools are not known yet',
      hint: expect.stringContaining('skillrail tools refresh'),
    })
    project.write('.skillrail/tools.json', '{ damaged')
    expect(await view.ask('tools')).toMatchObject({ state: 'corrupt', diagnostics: [{ path }] })
    rmSync(path)
    const servers = readFileSync(join(project.directory, '.mcp.json'), 'utf8')
    project.write('.mcp.json', servers.replace('no-such-server', 'another-server'))
    expect((await asked()).message).toContain('Not started')
    rmSync(join(project.directory, '.mcp.json'))
    expect((await asked()).message).toContain('No MCP server')
    project.write('.mcp.json', servers)
    project.write('.skillrail/tools.json', kept)
  })

  it('shows workflows as their command does', async () => {
    expect(await view.ask('workflows')).toEqual(await cli('tools', 'workflow', 'list'))
  })

  it('changes nothing in the project for any request', async () => {
    const [before, said] = [filesOf(project.directory), view.said()]
    const id = await idOf('release')
    for (const name of ['project', 'skills', 'chains', 'runs', 'tools', 'workflows'])
      await view.ask(name)
    for (const name of ['skill', 'skill-text', 'plan']) await view.ask(name, { id })
    await view.ask('match', { prompt: 'deploy staging' })
    expect(filesOf(project.directory)).toEqual(before)
    expect(view.said()).toBe(said)
  })

  it('refuses a port that is taken, and a number that is not a port', async () => {
    const other = createServer()
    const port = await new Promise<number>((resolve) => {
      other.listen(0, '127.0.0.1', () => {
        const address = other.address()
        resolve(typeof address === 'object' && address !== null ? address.port : 0)
      })
    })
    const options = { cwd: project.directory, home: project.home }
    const taken = await runInProcess(['view', '--port', String(port)], options)
    other.close()
    expect(taken).toMatchObject({ code: 2, stdout: '' })
    expect(taken.stderr).toContain(`--port ${port}: the port is in use`)
    const none = await runInProcess(['view', '--port', '70000'], options)
    expect(none).toMatchObject({ code: 2 })
    expect(none.stderr).toContain('a whole number from 0 to 65535')
  })

  it('opens the browser with an address that works once, and ends on Ctrl-C', async () => {
    project.write('../bin/xdg-open', '#!/bin/sh\necho "$1" > "$HOME/opened"\n', 0o755)
    const env = { PATH: `${join(project.directory, '../bin')}:${process.env['PATH'] ?? ''}` }
    const own = await startView(project.directory, project.home, { args: ['--open'], env })
    const opened = await untilTrue(async () => {
      try {
        return readFileSync(join(project.home, 'opened'), 'utf8').trim() || undefined
      } catch {
        return undefined
      }
    })
    expect(opened).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/#once-[0-9a-f]{64}$/)
    expect(opened).not.toContain(own.token)
    expect(await own.interrupt()).toBe(130)
  })

  it('reports a failure of the program that opens addresses', async () => {
    project.write('../bin/xdg-open', '#!/bin/sh\nexit 3\n', 0o755)
    const env = { PATH: `${join(project.directory, '../bin')}:${process.env['PATH'] ?? ''}` }
    const own = await startView(project.directory, project.home, { args: ['--open'], env })
    await untilTrue(async () => own.said().includes('No browser could be opened') || undefined)
    await own.interrupt()
  })

  it('prints the next address after one was used', async () => {
    const next = await view.address()
    expect(next).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/#once-[0-9a-f]{64}$/)
    expect(await tokenFor(next)).toBe(view.token)
    expect(await view.address()).not.toBe(next)
    expect(view.said()).toContain('For another tab, since an address works once:')
  })

  it('answers nothing while the settings have errors, and reads them for each answer', async () => {
    const config = join(project.home, '.config/skillrail/config.json')
    mkdirSync(join(config, '..'), { recursive: true })
    const write = (settings: object | string): void =>
      writeFileSync(config, typeof settings === 'string' ? settings : JSON.stringify(settings))
    const names = ['overview', 'skills', 'triggers', 'chains', 'runs', 'tools', 'workflows']
    try {
      write('{"tols": {}}')
      for (const name of names) {
        const { error, diagnostics } = await view.ask(name, { most: 9 })
        expect({ name, code: error?.code }).toEqual({ name, code: 'settings-invalid' })
        expect(diagnostics).toContainEqual(expect.objectContaining({ path: config }))
      }
      const [runs] = [(write({}), (await view.ask('runs', { most: 9 })).total)]
      expect(runs).toBeGreaterThan(0)
      write({ state: { directory: join(project.home, 'elsewhere') } })
      expect((await view.ask('runs', { most: 9 })).total).toBe(0)
    } finally {
      rmSync(config)
    }
    expect((await view.ask('skills')).skills.length).toBeGreaterThan(0)
  })
})

async function idOf(name: string): Promise<string> {
  const { skills } = await view.ask('skills')
  return skills.find((skill: { name: string }) => skill.name === name).id
}

/** Every file with its content. */
function filesOf(directory: string): Record<string, string> {
  const names = readdirSync(directory, { recursive: true, withFileTypes: true })
  return Object.fromEntries(
    names
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .map((path) => [path, readFileSync(path, 'utf8')]),
  )
}

async function untilTrue<T>(look: () => Promise<T | undefined>): Promise<T> {
  for (let tries = 0; tries < 300; tries++) {
    const found = await look()
    if (found !== undefined) return found
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error('it never came')
}
