import { isIP } from 'node:net';
import type { Refusal } from './refusal.ts';

/** A name of this machine for itself: `localhost`, or one under it. */
const LOOPBACK_NAME = /^(.+\.)?localhost$/;

/**
 * Returns the function that refuses requests to names which are none of this server's: a web page whose own name was
 * re-bound to this machine would otherwise ask it as its own origin. It answers to addresses, which no name server can
 * re-bind, to loopback names, to the one that it listens on, and to `hosts`, in whatever case and on whatever port.
 */
export function createHostCheck(server: { host: string; hosts: readonly string[] }) {
  const named = new Set([server.host, ...server.hosts].map(normalise));
  return (header: string | undefined): Refusal | undefined => {
    const host = normalise((header ?? '').replace(/:\d*$/, ''));
    const isAddress = isIP(host.replace(/^\[(.*)\]$/, '$1')) !== 0;
    return isAddress || LOOPBACK_NAME.test(host) || named.has(host) ? undefined : notHere;
  };
}

function normalise(host: string): string {
  return host.toLowerCase().replace(/\.$/, '');
}

const notHere: Refusal = {
  status: 421,
  code: 'BAD_USER_INPUT',
  message: 'this server does not answer to the name that the Host header gives: add it to server.hosts in the settings',
};
