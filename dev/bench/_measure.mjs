// Measures whole processes that take turns: on a shared machine only ratios of runs next to each
// other mean something. CPU is user plus system time of the process and its children, which the
// shell's `time` takes from the kernel when it waits for them.
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'

// Node 20 parses this file at every start, which hides what is measured.
const { NODE_EXTRA_CA_CERTS: _, ...environment } = process.env

const timed = 'T=$( { TIMEFORMAT="%3U %3S"; time "$0" "$@" >/dev/null 2>&1; } 2>&1 ); echo "$T"'

/** CPU in ms. `command` is a file and its arguments; its exit code does not matter. */
export function cpuOf(command, options = {}) {
  const text = execFileSync('bash', ['-c', timed, ...command], {
    ...options,
    env: { ...environment, ...options.env },
    encoding: 'utf8',
  })
  const [user, system] = text.trim().split(' ').map(Number)
  return (user + system) * 1000
}

/** The most memory the process ever held, in MiB; undefined where the system cannot say. */
export function peakMemoryOf(command, options = {}) {
  if (existsSync('/usr/bin/time')) {
    const { stderr } = spawnSync('/usr/bin/time', ['-f', '%M', ...command], {
      ...options,
      env: { ...environment, ...options.env },
      encoding: 'utf8',
      maxBuffer: 2 ** 30,
    })
    return Number(stderr.trim().split('\n').at(-1)) / 1024
  }
  // A program of Node's can report itself: the value is that of the kernel.
  const report = 'process.on("exit",()=>process.stderr.write("\\n"+process.resourceUsage().maxRSS))'
  const [file, ...args] = command
  const preload = ['--import', `data:text/javascript,${encodeURIComponent(report)}`]
  const { stderr } = spawnSync(file, [...preload, ...args], {
    ...options,
    env: { ...environment, ...options.env },
    encoding: 'utf8',
    maxBuffer: 2 ** 30,
  })
  const kilobytes = Number(stderr.split('\n').at(-1))
  return Number.isFinite(kilobytes) && kilobytes > 0 ? kilobytes / 1024 : undefined
}

/**
 * Runs the commands in turn, `rounds` times after one warm-up. A ratio is the median over the
 * rounds of what the command took, divided by what the command named `base` took in that round.
 */
export function interleave(commands, { base, rounds, ...options }) {
  const samples = Object.fromEntries(Object.keys(commands).map((name) => [name, []]))
  for (const command of Object.values(commands)) cpuOf(command, options)
  for (let round = 0; round < rounds; round++) {
    for (const [name, command] of Object.entries(commands)) {
      samples[name].push(cpuOf(command, options))
    }
  }
  return Object.entries(samples).map(([name, values]) => ({
    name,
    cpu: median(values),
    ratio: median(values.map((value, round) => value / samples[base][round])),
  }))
}

export function median(values) {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]
}
