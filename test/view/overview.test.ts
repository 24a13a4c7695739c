import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type OverviewEntry, projectOverview } from '../../src/view/overview.ts'
import { runInProcess } from '../run-in-process.ts'
import { contextIn } from './_context.ts'
import { makeViewProject, type ViewProject } from './_project.ts'

let project: ViewProject
beforeAll(() => {
  project = makeViewProject()
})
afterAll(() => project.remove())

const cli = (...args: string[]) =>
  runInProcess(args, { cwd: project.directory, home: project.home, env: noClients })

/** Where no agent client is installed. */
const noClients = { PATH: '/usr/bin:/bin' }

const overviewOf = async (directory: string, home: string) =>
  projectOverview(contextIn({ directory, home, env: noClients }))

async function part(name: string): Promise<{ summary: string; entries: readonly OverviewEntry[] }> {
  const { parts } = await overviewOf(project.directory, project.home)
  return parts.find((one) => one.name === name) ?? { summary: '', entries: [] }
}

describe('the overview of a project', () => {
  it('names invalid and untrusted skills, each with its command', async () => {
    expect(await part('skills')).toMatchObject({
      summary: '6 skills, 1 invalid, 5 not trusted',
      entries: [
        {
          name: 'broken',
          status: 'problem',
          state: 'invalid',
          fix: 'skillrail validate .agents/skills/broken',
          key: join(project.directory, '.agents/skills/broken/SKILL.md'),
        },
        { name: '5 skills', status: 'warning', state: 'not trusted', fix: 'skillrail trust' },
      ],
    })
  })

  it('judges a skill as validate does: a trigger with a missing file is invalid', async () => {
    const fields = 'triggers:\n  - match: x\n    inject: references/gone.md\n'
    const path = '.skillrail/skills/gone'
    project.write(`${path}/SKILL.md`, `---\nname: gone\ndescription: Gone.\n${fields}---\nDo.\n`)
    const { code } = await cli('validate', path)
    expect(code).toBe(1)
    const { entries } = await part('skills')
    expect(entries.map(({ name, state }) => [name, state])).toContainEqual(['gone', 'invalid'])
    rmSync(join(project.directory, path), { recursive: true })
  })

  it('says which skill changed after it was trusted', async () => {
    await cli('trust', '--yes')
    expect((await part('skills')).summary).toBe('6 skills, 1 invalid')
    project.write('.skillrail/skills/deploy-staging/scripts/run.sh', 'echo other', 0o755)
    expect((await part('skills')).entries).toContainEqual({
      name: 'deploy-staging',
      status: 'warning',
      state: 'not trusted',
      about: 'something that it can execute has changed since its workspace was trusted',
      fix: 'skillrail trust',
    })
    await cli('trust', '--yes')
  })

  it('shows a waiting run and the newest failed run, with the commands that continue them', async () => {
    await cli('run', 'nightly')
    await cli('run', 'release')
    const failed = await cli('run', 'nightly', '--json')
    const { runId } = JSON.parse(failed.stdout)
    const { summary, entries } = await part('runs')
    expect(summary).toBe('3 runs, 1 waiting, 1 failed')
    expect(entries).toEqual([
      {
        name: 'nightly',
        status: 'problem',
        state: 'failure',
        about: 'e2e-tests: POST /checkout answered 503',
        fix: `skillrail runs retry ${runId}`,
        key: runId,
      },
      expect.objectContaining({
        name: 'release',
        status: 'warning',
        state: 'waiting',
        about: 'Approve deploy-staging',
        fix: expect.stringMatching(/^skillrail runs approve /),
      }),
    ])
  })

  it('shows installed clients, with the hook and without', async () => {
    expect((await part('clients')).summary).toBe('0 clients')
    mkdirSync(join(project.home, '.claude'), { recursive: true })
    expect(await part('clients')).toMatchObject({
      summary: '1 client, 1 without a working hook',
      entries: [{ name: 'Claude Code', state: 'no hook', fix: 'skillrail hooks install claude' }],
    })
    expect(await cli('hooks', 'install', 'claude', '--user')).toMatchObject({ code: 0 })
    expect(await part('clients')).toMatchObject({
      summary: '1 client',
      entries: [{ name: 'Claude Code', status: 'ok', state: 'hook' }],
    })
  })

  it('shows a server whose last start failed, even if no tools are known', async () => {
    const failed = {
      summary: '1 MCP server, 1 failed to start',
      entries: [{ name: 'database', status: 'problem', fix: 'skillrail tools servers' }],
    }
    await cli('tools', 'refresh')
    expect(await part('servers')).toMatchObject(failed)
    rmSync(join(project.directory, '.skillrail/tools.json'))
    await cli('tools', 'refresh')
    expect(await part('servers')).toMatchObject(failed)
  })

  it('is empty in an empty project', async () => {
    const empty = realpathSync(mkdtempSync(join(tmpdir(), 'skillrail-empty-')))
    writeFileSync(join(empty, 'README.md'), 'Nothing.')
    const { parts } = await overviewOf(empty, empty)
    expect(parts.map(({ total, entries }) => [total, entries.length])).toEqual(
      Array.from({ length: 4 }, () => [0, 0]),
    )
    rmSync(empty, { recursive: true })
  })
})
