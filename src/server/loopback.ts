import type { Refusal } from './refusal.ts';

const LOOPBACK_NAME = /^(localhost|.+\.localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\]|::1)$/i;

/** True for `localhost`, names under it, 127.0.0.0/8 and ::1. */
export function isLoopbackHost(host: string): boolean {
  return LOOPBACK_NAME.test(host);
}

/**
 * The refusal of a request whose Host header names another machine, for a server that signs everybody in and listens on
 * loopback: a page whose name was re-bound to 127.0.0.1 would otherwise read it as its own origin.
 */
export function refuseForeignHost(host: string | undefined): Refusal | undefined {
  if (host !== undefined && isLoopbackHost(host.replace(/:\d*$/, ''))) return undefined;
  return {
    status: 421,
    code: 'BAD_USER_INPUT',
    message:
      'this server listens on loopback without sign-in and answers to loopback names alone, such as localhost: set server.host or auth to serve other names',
  };
}
