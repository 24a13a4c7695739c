import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest'
import {
  type Connected,
  connect,
  connectProcess,
  type ConnectOptions,
  makeProject,
  type McpProject,
} from './_project.ts'

/** The project of the running test, with its clients. */
export interface ServedProject extends Omit<McpProject, 'remove'> {
  /** Starts a client, which is closed before the project is removed. The command runs in this process. */
  start(options?: ConnectOptions): Promise<Connected>
  /** The same with the command in a process of its own. */
  startProcess(options?: ConnectOptions): Promise<Connected>
}

/**
 * Makes a project for each test, or one for all tests of the file or block that calls it.
 *
 * @param begin writes the files that every test needs
 */
export function servedProject(
  life: 'test' | 'block',
  begin?: (project: ServedProject) => Promise<void> | void,
): ServedProject {
  let current: McpProject | undefined
  let open: Connected[] = []
  const now = (): McpProject => {
    if (current === undefined) throw new Error('no test runs')
    return current
  }
  const served: ServedProject = {
    get project() {
      return now().project
    },
    get home() {
      return now().home
    },
    calls: () => now().calls(),
    started: () => now().started(),
    write: (...given) => now().write(...given),
    skill: (...given) => now().skill(...given),
    async start(options) {
      const connected = await connect(now(), options)
      open.push(connected)
      return connected
    },
    async startProcess(options) {
      const connected = await connectProcess(now(), options)
      open.push(connected)
      return connected
    },
  }
  const [before, after] = life === 'test' ? [beforeEach, afterEach] : [beforeAll, afterAll]
  before(async () => {
    current = makeProject()
    await begin?.(served)
  })
  after(async () => {
    await Promise.all(open.map(({ client }) => client.close()))
    open = []
    current?.remove()
  })
  return served
}
