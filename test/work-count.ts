import { fork } from 'node:child_process'
import { type Profiler, Session } from 'node:inspector'
import { fileURLToPath } from 'node:url'

/** Prepares work on an input of a size. */
export type WorkOfSize = (size: number) => () => unknown

/**
 * How many times the work grows when its input grows fourfold: about 4 if it is linear, about 16 if it grows
 * like the square. Work is the number of blocks that run: functions, branches and passes of loops, as the
 * engine counts them for coverage. So the answer is the same on every machine and under any load. The
 * work inside one regular expression or one built-in function is not counted.
 *
 * `file` exports the {@link WorkOfSize} with this name. It runs in a process of its own, because the engine
 * counts only in code that it compiles afterwards. A thread of the test's process would do too, but there
 * the engine was once seen to end the whole process.
 */
export async function growthOf(file: URL, name: string, size: number): Promise<number> {
  const request: Request = { file: file.href, name, size }
  const counting = fork(fileURLToPath(import.meta.url), [JSON.stringify(request)])
  return await new Promise((resolve, reject) => {
    counting.once('message', resolve)
    counting.once('exit', (code, signal) => {
      reject(new Error(`the process that counts ended: ${signal ?? code}`))
    })
  })
}

interface Request {
  file: string
  name: string
  size: number
}

async function growth({ file, name, size }: Request): Promise<number> {
  const session = new Session()
  session.connect()
  session.post('Profiler.enable')
  session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true })
  const works: Record<string, WorkOfSize> = await import(file)
  const workOn = works[name]
  if (workOn === undefined) throw new Error(`${file} has no ${name}`)
  const count = async (inputSize: number): Promise<number> => {
    const work = workOn(inputSize)
    blocksRun(session)
    await work()
    return blocksRun(session)
  }
  // The first call also loads and fills what later calls find.
  await workOn(size)()
  return (await count(4 * size)) / (await count(size))
}

/** Since the last call. */
function blocksRun(session: Session): number {
  let scripts: Profiler.ScriptCoverage[] = []
  session.post('Profiler.takePreciseCoverage', (error, { result }) => {
    if (error !== null) throw error
    scripts = result
  })
  const functions = scripts
    .filter(({ url }) => !url.startsWith('node:'))
    .flatMap((script) => script.functions)
  return functions.flatMap(({ ranges }) => ranges).reduce((sum, { count }) => sum + count, 0)
}

const given = process.argv[2]
if (
  process.send !== undefined &&
  process.argv[1] === fileURLToPath(import.meta.url) &&
  given !== undefined
) {
  process.send(await growth(JSON.parse(given)))
  process.disconnect()
}
