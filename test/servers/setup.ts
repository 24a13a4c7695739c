import { installServers } from './packages.ts'

/** Once before all suites. */
export default function setup(): void {
  installServers()
}
