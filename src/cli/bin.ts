#!/usr/bin/env node
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)

if (major < 22 || (major === 22 && minor < 18)) {
  process.stderr.write(
    `skillrail needs Node 22.18 or newer; this is ${process.version} (${process.execPath}).\nnpm install --save-dev node@24 puts one into this project, for npx and npm scripts.\n`,
  )
  process.exitCode = 2
} else {
  process.getBuiltinModule('node:module').enableCompileCache()
  // What Node and libraries remark about our own code is for us, and what a user can do about it nothing.
  if (!process.argv.some((word) => word === '-v' || word === '--verbose')) {
    process.removeAllListeners('warning')
  }
  if (process.argv.includes('validate') && !namesOneSkill()) keepMemorySmall()
  else if (process.argv.includes('tools') && process.argv.includes('route')) leaveUnoptimized()
  void import('./main.ts').then(async ({ main }) => {
    process.exitCode = await main(process.argv.slice(2))
  })
}

/** Loading `node:v8` costs a tenth of a start: too much for a single skill. */
function namesOneSkill(): boolean {
  const { existsSync } = process.getBuiltinModule('node:fs')
  return process.argv.some((argument) => existsSync(`${argument}/SKILL.md`))
}

/**
 * For a command that reads thousands of small files one after the other: garbage is collected early
 * instead of growing the young generation, and the optimizing compiler, whose work would not pay
 * before the end, is left out. Must come before the first module; `bench/validate.mjs` measures it.
 */
function keepMemorySmall(): void {
  const { setFlagsFromString } = process.getBuiltinModule('node:v8')
  setFlagsFromString('--semi-space-growth-factor=1')
  setFlagsFromString('--no-turbofan')
}

/**
 * For a command that is over before optimized code pays, and that is run for every prompt: a sixth of
 * its whole CPU; `bench/route-command.mjs` measures it. Must come before the first module.
 */
function leaveUnoptimized(): void {
  const { setFlagsFromString } = process.getBuiltinModule('node:v8')
  setFlagsFromString('--no-opt')
  setFlagsFromString('--no-maglev')
}
