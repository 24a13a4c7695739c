import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { systemRuntime } from '../../src/core/runtime.ts'
import { installHook } from '../../src/hooks/install.ts'
import { startModelServer } from '../model-server/server.ts'
import { clientPackages, installClients, type TestedClient } from './cache.ts'
import { type ClientRecipe, recipes } from './clients.ts'
import { makeHome, shortReference, write } from './home.ts'
import { runClient } from './run-client.ts'
import { isShort, isTried } from './short.ts'

const places = ['.config/skillrail/config.json', 'project/.skillrail/config.json'] as const
const isTested = (name: string): name is TestedClient => Object.hasOwn(clientPackages, name)
const rows = Object.keys(clientPackages)
  .filter(isTested)
  .filter(isTried)
  .flatMap((client, at) => placesFor(at).map((place) => ({ client, place })))

/** In a short run, each place in every second client. */
function placesFor(at: number): readonly string[] {
  return isShort ? places.slice(at % 2, (at % 2) + 1) : places
}

it.concurrent.each(rows)(
  '$client makes no edit and runs no command while $place has errors, and its model gets the reason',
  async ({ client: name, place }) => {
    const client = installClients([name], { latest: false }).get(name)
    if (client === undefined) throw new Error(`${name} is not installed`)
    const recipe: ClientRecipe = recipes[name]
    const task = 'please edit the files'
    let isAsked = false
    const model = await startModelServer(({ body }) => {
      const isTask = body.includes(task) && /"(?:tools|functionDeclarations)"/.test(body)
      if (isAsked || !isTask) return 'done'
      isAsked = true
      const edit = recipe.edit(home.project, 'edited.txt', 'text\n')
      return { calls: [edit, recipe.shell(home.project, 'echo ran > ran.txt')] }
    })
    const home = makeHome(recipe, model.url)
    const environment = recipe.environment(model.url)
    const path = join(home.home, place)
    try {
      const runtime = systemRuntime({ cwd: home.project, env: { HOME: home.home } })
      await installHook(runtime, name, { scope: 'user' })
      write(path, '{ "tools": { "deny": ["notes__*"] }')
      const run = await runClient(client, recipe.prompt(task, true), home, environment)
      const bodies = model.prompts().map(({ body }) => body)
      const told = bodies.map((body) => ({
        prompt: body.includes('Skillrail adds no references') && body.includes(`${path}:1`),
        denials: body.split('Skillrail denies this call').length - 1,
      }))
      const made = ['edited.txt', 'ran.txt'].filter((file) => existsSync(join(home.project, file)))
      model.clear()
      const call = await runClient(client, recipe.call('program execute'), home, environment)
      const [reference = ''] = shortReference
      const sent = model.prompts().map(({ body }) => ({
        isTold: body.includes(`${path}:1`),
        hasReference: body.includes(reference),
      }))
      const output = [run.output, call.output].map((text) => text.slice(-2000))
      if (process.env['SHOW']) console.log(name, place, isAsked, told, made, sent, output)
      expect({ isAsked, made, output }).toMatchObject({ isAsked: true, made: [] })
      expect({ first: told[0]?.prompt, told }).toMatchObject({ first: true })
      expect(told.at(-1)?.denials).toBeGreaterThanOrEqual(2)
      expect(sent.some(({ isTold }) => isTold)).toBe(true)
      expect(sent.some(({ hasReference }) => hasReference)).toBe(false)
    } finally {
      await model.close()
      rmSync(home.home, { recursive: true, force: true, maxRetries: 3 })
    }
  },
)
