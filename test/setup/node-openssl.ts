/** Differences between the versions of OpenSSL that are part of Node. */
const [major = 0, minor = 0] = process.versions.openssl.split('.').map(Number);

/**
 * Since OpenSSL 3.2 (Node 24 has 3.5), clients and servers refuse keys of less than 112 bits of security, such as RSA
 * with 1024 bits, and a server loads a certificate that is signed with SHA-1.
 */
export const REFUSES_WEAK_KEYS = major > 3 || (major === 3 && minor >= 2);
