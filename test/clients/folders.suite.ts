import { cpSync, existsSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { clientFolders } from '../../src/core/client-folders.ts'
import { systemRuntime } from '../../src/core/runtime.ts'
import { installHook } from '../../src/hooks/install.ts'
import { locationTable } from '../../src/library/locations.ts'
import { startModelServer } from '../model-server/server.ts'
import { runInProcess } from '../run-in-process.ts'
import { installClients, type TestedClient } from './cache.ts'
import { type ClientRecipe, recipes } from './clients.ts'
import { makeHome, shortReference, write } from './home.ts'
import { runClient } from './run-client.ts'
import { isTried } from './short.ts'

const markOf = /FOLDER-SKILL-[a-z0-9-]+/g
const clients = Object.keys(recipes)
  .filter((name): name is TestedClient => name in recipes)
  .filter(isTried)

function skill(directory: string, place: string, mark: string): void {
  const name = mark.toLowerCase()
  const head = `---\nname: ${name}\ndescription: FOLDER-SKILL-${mark} for tests. Use when testing.\n---\n`
  write(join(directory, place, name, 'SKILL.md'), `${head}Do it.\n`)
}

/** A flat and a nested skill in every place for skills. */
function fillPlaces(home: string, project: string): void {
  const markAt = (path: string): string => path.replaceAll(/[^a-z]+/g, '-').replace(/^-/, '')
  for (const place of locationTable) {
    for (const [directory, path, scope] of [
      [home, place.user, 'user'],
      [project, place.project, 'project'],
    ] as const) {
      if (path === undefined || place.clients.length === 0) continue
      skill(directory, path, `${scope}-${markAt(path)}`)
      skill(directory, `${path}/group`, `${scope}-${markAt(path)}-deep`)
    }
  }
}

it.concurrent.each(clients)(
  'names %s exactly for the skills that it reads, and the client calls the hook',
  async (name) => {
    const client = installClients([name], { latest: false }).get(name)
    if (client === undefined) throw new Error(`${name} is not installed`)
    const recipe: ClientRecipe = recipes[name]
    const model = await startModelServer()
    const home = makeHome(recipe, model.url)
    const run = async (args: readonly string[], variables: Record<string, string>) => {
      model.clear()
      const environment = { ...recipe.environment(model.url), ...variables }
      const { output } = await runClient(client, args, home, environment)
      const bodies = model.prompts().map(({ body }) => body)
      expect({ requests: bodies.length, output }).not.toMatchObject({ requests: 0 })
      return bodies
    }
    /** The client sends the skills that `skillrail list` reports for it, from all folders. */
    const compare = async (variables: Record<string, string>): Promise<string[]> => {
      // pi reads a project only after its user approved it.
      const approval = name === 'pi' ? ['--approve'] : []
      const bodies = await run([...approval, ...recipe.prompt('hello')], variables)
      const sent = [...new Set(bodies.join('\n').match(markOf))].toSorted()
      const { stdout } = await runInProcess(['list', '--all', '--json'], {
        cwd: home.project,
        home: home.home,
        env: variables,
      })
      const { skills }: { skills: { description: string; clients: string[] }[] } =
        JSON.parse(stdout)
      const listed = skills
        .filter((info) => info.clients.includes(name))
        .flatMap(({ description }) => description.match(markOf) ?? [])
      expect([...new Set(listed)].toSorted()).toEqual(sent)
      return sent
    }
    try {
      mkdirSync(join(home.project, '.git'))
      fillPlaces(home.home, home.project)
      const usual = await compare({})
      expect(usual.length).toBeGreaterThan(1)
      const { path, variables: [variable] = [] } = clientFolders[name]
      if (variable === undefined) throw new Error(`${name} has no variable`)
      const moved = join(home.home, 'moved')
      const folder = join(moved, variable.below ?? '')
      cpSync(join(home.home, path), folder, { recursive: true, verbatimSymlinks: true })
      // Claude Code keeps its state beside its folder, or in its folder if a variable moves the folder.
      const state = join(home.home, '.claude.json')
      if (existsSync(state)) cpSync(state, join(folder, '.claude.json'))
      rmSync(join(folder, 'skills'), { recursive: true })
      cpSync(join(home.home, '.agents/skills/saw'), join(folder, 'skills/saw'), { recursive: true })
      skill(folder, 'skills', 'moved')
      skill(moved, '.agents/skills', 'moved-agents')
      const variables = { [variable.name]: moved }
      const now = await compare(variables)
      expect(now).toContain('FOLDER-SKILL-moved')
      expect(now).not.toEqual(usual)
      const runtime = systemRuntime({ cwd: home.project, env: { HOME: home.home, ...variables } })
      const { path: file } = await installHook(runtime, name, { scope: 'user' })
      expect(file.startsWith(`${folder}/`)).toBe(true)
      const [reference = ''] = shortReference
      const bodies = await run(recipe.call('program execute caching'), variables)
      expect(Math.max(...bodies.map((body) => body.split(reference).length - 1))).toBe(1)
    } finally {
      await model.close()
      rmSync(home.home, { recursive: true, force: true, maxRetries: 3 })
    }
  },
)
