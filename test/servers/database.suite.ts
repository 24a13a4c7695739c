import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { isMissing, skipReason } from './needs.ts'
import type { Database } from './postgres.ts'
import type { ServerProject } from './project.ts'
import { useFixture } from './fixture.ts'

describe.skipIf(isMissing('postgresql'))(
  `the workflow of a database, enforced${skipReason('postgresql')}`,
  () => {
    const fixture = useFixture(['database'])
    const project = (): ServerProject => fixture().project
    const database = (): Database => {
      const { database } = fixture()
      if (database === undefined) throw new Error('there is no database')
      return database
    }
    const select = async (database: string, query: string, session?: string) =>
      await project().cli([
        'tools',
        'call',
        'database__select_query',
        JSON.stringify({ database, query }),
        ...(session === undefined ? [] : ['--session', session]),
      ])

    it('is added from its template and accepted as a workflow that can act', async () => {
      const added = await project().cli(['tools', 'workflow', 'add', '--template', 'database'])
      expect(added.code).toBe(0)
      expect(added.stderr).toContain('Accept this change with: skillrail trust')
      expect((await project().cli(['trust', '--yes'])).code).toBe(0)
      const checked = await project().cli(['tools', 'workflow', 'check'])
      expect(checked).toMatchObject({ code: 0 })
    })

    it('plans the prerequisites of a query with their parameters', async () => {
      const call = JSON.stringify({ database: 'postgres', query: 'SELECT name FROM users' })
      const { answer } = await project().json([
        'tools',
        'workflow',
        'plan',
        'database__select_query',
        call,
      ])
      expect(answer.steps).toMatchObject([
        { tool: 'list_databases', status: 'run' },
        { tool: 'list_tables', status: 'run', params: { database: 'postgres' } },
        { tool: 'inspect_table', params: { database: 'postgres', tables: ['users'] } },
        { tool: 'get_indexes', params: { database: 'postgres', tables: ['users'] } },
      ])
    })

    it('runs every prerequisite before the query, in their order', async () => {
      const { code, stdout, stderr } = await select(
        'postgres',
        'SELECT name FROM users ORDER BY id',
      )
      expect(code).toBe(0)
      expect(stdout).toContain('Ann')
      expect(linesOf(stderr)).toEqual([
        "Workflow 'database-safe-query' triggered. Running 4 prerequisites...",
        '✓ Step 1: list_databases completed',
        '✓ Step 2: list_tables completed',
        '✓ Step 3: inspect_table completed',
        '✓ Step 4: get_indexes completed',
      ])
    })

    it('runs them once in a session', async () => {
      const { code, stdout, stderr } = await select('postgres', 'SELECT email FROM users')
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
      expect(stdout).toContain('ann@example.com')
    })

    it('looks at another table before a query on it', async () => {
      const { stderr } = await select('postgres', 'SELECT total FROM orders')
      expect(linesOf(stderr)).toEqual([
        "Workflow 'database-safe-query' triggered. Running 2 prerequisites...",
        '✓ Step 3: inspect_table completed',
        '✓ Step 4: get_indexes completed',
      ])
    })

    it('looks at another database before a query on it', async () => {
      const { code, stderr } = await select('archive', 'SELECT name FROM users')
      expect(code).toBe(0)
      expect(linesOf(stderr)).toEqual([
        "Workflow 'database-safe-query' triggered. Running 3 prerequisites...",
        '✓ Step 2: list_tables completed',
        '✓ Step 3: inspect_table completed',
        '✓ Step 4: get_indexes completed',
      ])
    })

    it('runs all of them again in another session', async () => {
      const { stderr } = await select('postgres', 'SELECT name FROM users', 'another')
      expect(linesOf(stderr)[0]).toContain('Running 4 prerequisites...')
    })

    it('reads the table from a request without a question', async () => {
      const request = 'select query: SELECT status FROM users WHERE id = 1 in the database archive'
      const { answer } = await project().json(['tools', 'do', request, '--dry-run'])
      expect(answer.steps.at(-1)).toMatchObject({ tool: 'database__select_query' })
    })

    it('does not send the query when a prerequisite fails', async () => {
      await project().cli(['tools', 'workflow', 'disable', 'database-safe-query'])
      writeGuard(project().directory, 'absent')
      expect((await project().cli(['trust', '--yes'])).code).toBe(0)
      const failed = await select('postgres', 'SELECT visit()')
      expect(failed.code).toBe(1)
      expect(failed.stdout).toBe('')
      expect(failed.stderr).toMatch(
        /Workflow 'guard' failed at step 1 \(list_tables\): [^\n]*Database not found: absent\nSuggestion: /,
      )
      expect(database().log()).not.toContain('SELECT visit()')
      expect(database().run('select count(*) from visits')).toBe('0')
    })

    it('sends the query once the prerequisite succeeds', async () => {
      writeGuard(project().directory, 'postgres')
      await project().cli(['trust', '--yes'])
      const done = await select('postgres', 'SELECT visit()')
      expect(done.code).toBe(0)
      expect(database().log()).toContain('SELECT visit()')
      expect(database().run('select count(*) from visits')).toBe('1')
    })
  },
)

/** A workflow of our own before every select, whose one step looks at a database. */
function writeGuard(directory: string, database: string): void {
  const guard = {
    enabled: true,
    description: 'Look at a database first',
    triggers: { tools: ['select_query'] },
    prerequisites: [
      { step: 1, tool: 'list_tables', description: 'Know the tables', params: { database } },
    ],
    mode: 'enforce',
  }
  writeFileSync(join(directory, '.skillrail/workflows.json'), JSON.stringify({ guard }, null, 2))
}

function linesOf(text: string): string[] {
  return text.trim().split('\n')
}
