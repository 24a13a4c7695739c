import { afterAll, afterEach, beforeAll, expect } from 'vitest'
import { type GithubStandIn, startGithub } from './github.ts'
import { type GraphqlServer, startGraphql } from './graphql.ts'
import type { LoopbackServer } from './loopback.ts'
import type { ServerName } from './packages.ts'
import { startPage } from './page.ts'
import { type Database, postgresPrograms, startDatabase } from './postgres.ts'
import { makeServerProject, type ServerProject } from './project.ts'
import { type ServerEntry, serverEntries } from './recipes.ts'

/** The data of a suite's servers, and the project that uses these servers. */
export interface Fixture {
  project: ServerProject
  page: LoopbackServer
  graphql: GraphqlServer
  github: GithubStandIn
  /** Undefined where PostgreSQL is not installed, or no server needs it. */
  database?: Database | undefined
}

/**
 * A project with these servers for all tests of a block, its tools already in the cache. After each
 * test nothing that a command started is left, unless the project keeps its servers.
 */
export function useFixture(
  names: readonly ServerName[],
  { more = {}, kept = false }: { more?: Record<string, ServerEntry>; kept?: boolean } = {},
): () => Fixture {
  let fixture: Fixture | undefined
  const get = (): Fixture => {
    if (fixture === undefined) throw new Error('the fixture has not been made')
    return fixture
  }
  beforeAll(async () => {
    fixture = await makeFixture(names, more)
    const { code, stderr } = await fixture.project.cli(['tools', 'refresh'])
    if (code !== 0) throw new Error(`refresh: ${stderr}`)
    if (kept) await fixture.project.cli(['tools', 'serve', '--detach'])
  })
  afterEach(async () => {
    if (!kept) expect(await get().project.processesLeft()).toEqual([])
  })
  afterAll(async () => {
    if (fixture !== undefined) await closeFixture(fixture)
  })
  return get
}

export async function makeFixture(
  names: readonly ServerName[],
  more: Record<string, ServerEntry> = {},
): Promise<Fixture> {
  const usable = names.filter((name) => name !== 'database' || postgresPrograms() !== undefined)
  const page = await startPage()
  const graphql = await startGraphql()
  const github = await startGithub()
  const database = usable.includes('database') ? await startDatabase() : undefined
  const project = await makeServerProject((directory) => ({
    ...serverEntries(usable, {
      directory,
      databaseUrls: database?.urls,
      graphqlUrl: graphql.url,
      githubUrl: github.url,
    }),
    ...more,
  }))
  return { project, page, graphql, github, database }
}

export async function closeFixture({
  project,
  page,
  graphql,
  github,
  database,
}: Fixture): Promise<void> {
  await project.close()
  await Promise.all([page.stop(), graphql.stop(), github.stop()])
  database?.stop()
}
