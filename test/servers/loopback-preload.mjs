// Loaded into the real servers before their own code: whatever listens does so on loopback, and what
// is meant for GitHub goes to the address in `GITHUB_STAND_IN`.
import { Server } from 'node:net'

const listen = Server.prototype.listen
Server.prototype.listen = function (port, ...rest) {
  if (typeof port !== 'number' && typeof port !== 'string') return listen.call(this, port, ...rest)
  const callback = rest.find((argument) => typeof argument === 'function')
  return listen.call(this, { port: Number(port), host: '127.0.0.1' }, callback)
}

const github = process.env['GITHUB_STAND_IN']
if (github !== undefined) {
  const { fetch } = globalThis
  globalThis.fetch = (address, options) =>
    fetch(new URL(address).href.replace('https://api.github.com', github), options)
}
