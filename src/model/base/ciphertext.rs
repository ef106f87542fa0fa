//! Whether stored content was encrypted by a filter: the one rule. The file in the worktree is then its plain text, and must not be
//! stored as it is.

/// How much of a content is looked at, in bytes.
pub const LOOKED_AT: usize = 64 * 1024;

/// How encrypted contents begin: git-crypt, openssl (transcrypt) in bytes and as text, age, PGP, Ansible.
const BEGINNINGS: [&[u8]; 8] = [
    b"\0GITCRYPT\0",
    b"Salted__",
    b"U2FsdGVkX1",
    b"age-encryption.org/v1",
    b"-----BEGIN AGE ENCRYPTED FILE-----",
    b"-----BEGIN PGP MESSAGE-----",
    b"$ANSIBLE_VAULT;",
    b"\x85\x02\x0c\x03",
];

/// What sops writes in place of each value.
const INSIDE: &[u8] = b"ENC[AES256_GCM,";

/// Words in the command of a filter that encrypts.
const COMMANDS: [&str; 8] = ["crypt", "sops", "gpg", "openssl", "ansible-vault", "rage ", "age -", "vault"];

/// Less than this, in bits for each byte, no cipher writes; compressed contents are told by how they begin.
const EVEN: f64 = 7.0;

/// How compressed contents begin: gzip, zip, zstd, xz, bzip2.
const COMPRESSED: [&[u8]; 5] = [b"\x1f\x8b", b"PK\x03\x04", b"\x28\xb5\x2f\xfd", b"\xfd7zXZ", b"BZh"];

/// Whether the beginning of a stored content is what a filter has encrypted; `plain` is how the file in the worktree begins.
pub fn is_encrypted(stored: &[u8], plain: &[u8]) -> bool {
    let stored = &stored[..stored.len().min(LOOKED_AT)];
    let begins = |with: &&[u8]| stored.starts_with(with);
    BEGINNINGS.iter().any(&begins)
        || memchr::memmem::find(stored, INSIDE).is_some()
        || (!COMPRESSED.iter().any(begins) && is_noise(stored) && !is_noise(&plain[..plain.len().min(LOOKED_AT)]))
}

/// Whether the command of a filter is known to encrypt: for files of which nothing is stored yet.
pub fn is_by_command(command: &str) -> bool {
    COMMANDS.iter().any(|word| command.contains(word))
}

/// Whether bytes are spread as evenly as a cipher spreads them. Short contents tell nothing.
fn is_noise(bytes: &[u8]) -> bool {
    if bytes.len() < 256 || std::str::from_utf8(bytes).is_ok() {
        return false;
    }
    let mut counts = [0_u32; 256];
    bytes.iter().for_each(|byte| counts[usize::from(*byte)] += 1);
    let all = bytes.len() as f64;
    let bits = |count: &u32| f64::from(*count) / all * (all / f64::from(*count)).log2();
    counts.iter().filter(|count| **count > 0).map(bits).sum::<f64>() > EVEN
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_filters_encrypt_is_told_from_what_they_store_otherwise() {
        let mut state = 1_u32;
        let noise: Vec<u8> = std::iter::repeat_with(|| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        })
        .take(4096)
        .collect();
        let encrypted: [&[u8]; 6] = [
            b"\0GITCRYPT\0\x01\x02",
            b"Salted__\x01\x02",
            b"U2FsdGVkX19abcdef\n",
            b"-----BEGIN PGP MESSAGE-----\n",
            b"password: ENC[AES256_GCM,data:abc]\n",
            &noise,
        ];
        assert!(encrypted.iter().all(|stored| is_encrypted(stored, b"plain\n")));
        assert!(!is_encrypted(&noise, &noise), "a picture, for example");
        let zipped = [b"\x1f\x8b", &noise[..]].concat();
        let others: [&[u8]; 5] =
            [b"", b"plain text\n", b"version https://git-lfs.github.com/spec/v1\n", &[0; 5000], zipped.as_slice()];
        assert!(!others.iter().any(|stored| is_encrypted(stored, b"plain\n")));
    }

    #[test]
    fn commands_that_encrypt_are_known() {
        assert!(is_by_command("\"git-crypt\" clean") && is_by_command(".git/crypt/transcrypt clean context=default %f"));
        assert!(is_by_command("sops --encrypt %f") && is_by_command("gpg -e"));
        assert!(!is_by_command("git-lfs clean -- %f") && !is_by_command("nbstripout"));
    }
}
