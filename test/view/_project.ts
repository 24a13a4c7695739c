import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

/** A project with skills, chains, triggers, workflows and known tools, on a disk. */
export interface ViewProject {
  directory: string
  home: string
  write(path: string, text: string, mode?: number): void
  remove(): void
}

export function makeViewProject(): ViewProject {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'skillrail-view-')))
  const directory = join(root, 'project')
  const project: ViewProject = {
    directory,
    home: join(root, 'home'),
    write(path, text, mode = 0o644) {
      const file = join(directory, path)
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, text)
      chmodSync(file, mode)
    },
    remove: () => rmSync(root, { recursive: true, force: true }),
  }
  mkdirSync(project.home, { recursive: true })
  mkdirSync(join(directory, '.git'), { recursive: true })
  for (const [path, text, mode] of files) project.write(path, text, mode)
  return project
}

const skill = (name: string, description: string, fields: readonly string[] = []): string =>
  ['---', `name: ${name}`, `description: ${description}`, ...fields, '---', `Do ${name}.`, ''].join(
    '\n',
  )

const skills = '.skillrail/skills'

const files: readonly (readonly [path: string, text: string, mode?: number])[] = [
  [`${skills}/unit-tests/SKILL.md`, skill('unit-tests', 'Runs the unit tests.')],
  [
    `${skills}/unit-tests/scripts/run.sh`,
    '#!/bin/sh\nwhile [ -e hold ]; do sleep 0.05; done\necho 214 tests passed\n',
    0o755,
  ],
  [`${skills}/e2e-tests/SKILL.md`, skill('e2e-tests', 'Buys something in the shop.')],
  [
    `${skills}/e2e-tests/scripts/run.sh`,
    `#!/bin/sh\necho 'expected 200, got 503' >&2\necho '{"status":"failure","result":"checkout answers 503","errors":[{"code":"http-503","message":"POST /checkout answered 503"}],"metrics":{"tests":18}}'\n`,
    0o755,
  ],
  [
    `${skills}/deploy-staging/SKILL.md`,
    skill('deploy-staging', 'Puts the build on the staging servers.', [
      'triggers:',
      '  - match: deploy (to )?staging',
      '    inject: references/staging.md',
      '  - match: rollback',
      '    inject: references/rollback.md',
    ]),
  ],
  [`${skills}/deploy-staging/scripts/run.sh`, '#!/bin/sh\necho deployed\n', 0o755],
  [`${skills}/deploy-staging/references/staging.md`, 'Staging has three servers.\n'.repeat(20)],
  [`${skills}/deploy-staging/references/rollback.md`, 'Go back to the tag before.\n'],
  [
    `${skills}/release/SKILL.md`,
    skill('release', 'Tests, then a person, then staging.', [
      'metadata:',
      '  chain: unit-tests deploy-staging',
      '  gates: deploy-staging',
    ]),
  ],
  [
    `${skills}/nightly/SKILL.md`,
    skill('nightly', 'Everything, every night.', ['metadata:', '  chain: e2e-tests unit-tests']),
  ],
  ['.claude/skills/unit-tests/SKILL.md', skill('unit-tests', 'An older one.')],
  ['.agents/skills/broken/SKILL.md', '---\nname: broken\ndescription: [a\n---\n'],
  [
    '.skillrail/tools.json',
    JSON.stringify({
      version: '4.0.0',
      refreshed_at: '2026-01-01T00:00:00.000Z',
      mcp_servers: ['database'],
      tool_count: 2,
      categories: {
        database: {
          description: 'Data in tables.',
          keywords: ['sql'],
          tools: [
            {
              id: 'database__execute_query',
              description: 'Execute a SQL query',
              prefix: 'database__',
            },
            { id: 'database__list_tables', description: 'List the tables', prefix: 'database__' },
          ],
        },
      },
      uncategorized: [],
    }),
  ],
  [
    '.mcp.json',
    JSON.stringify({
      mcpServers: { database: { command: 'no-such-server', args: ['--api-key', 'of-the-user'] } },
    }),
  ],
  [
    '.skillrail/workflows.json',
    JSON.stringify({
      version: 1,
      workflows: {
        database: {
          enabled: true,
          description: 'Looks at the schema first.',
          triggers: { category: 'database', tools: ['execute_query'] },
          prerequisites: [
            { step: 1, tool: 'list_tables', description: 'Which tables there are', required: true },
          ],
          mode: 'enforce',
        },
      },
    }),
  ],
]
