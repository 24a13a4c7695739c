import { clientPackages, installClients, type TestedClient } from './clients/cache.ts'
import { installServers } from './servers/packages.ts'

// Downloads the clients and servers that the suites start. Without this the suites download them.
const clients = Object.keys(clientPackages).filter(
  (name): name is TestedClient => name in clientPackages,
)
installClients(clients, { latest: false })
installServers()
