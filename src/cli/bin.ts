#!/usr/bin/env node
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)

if (major < 22 || (major === 22 && minor < 18)) {
  process.stderr.write(
    `skillrail needs Node 22.18 or newer; this is ${process.version} (${process.execPath}).\nGet it from https://nodejs.org; npm install --save-dev node@24 puts one into a project, for npx and npm scripts.\n`,
  )
  process.exitCode = 2
} else {
  process.getBuiltinModule('node:module').enableCompileCache()
  // Warnings of Node and of libraries about our own code help no user.
  if (!process.argv.some((word) => word === '-v' || word === '--verbose')) {
    process.removeAllListeners('warning')
  }
  void import('./main.ts').then(async ({ main }) => {
    process.exitCode = await main(process.argv.slice(2))
  })
}
