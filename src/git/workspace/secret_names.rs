//! Which leftovers are committed by no one but a human: files whose names say that they are secret, and large ones.

use std::path::Path;

use axiom_model::base::names::RepoPath;

pub(super) fn is_larger(root: &Path, path: &RepoPath, limit: u64) -> bool {
    root.join(path.to_path()).symlink_metadata().is_ok_and(|meta| meta.is_file() && meta.len() > limit)
}

/// Whether a file is likely a secret, judged by its path: only a human commits such a file.
pub fn looks_secret(path: &RepoPath) -> bool {
    let name = path.file_name().to_ascii_lowercase();
    let name = String::from_utf8_lossy(&name);
    let samples = ["example", "sample", "template", "dist"];
    if let Some(rest) = name.strip_prefix(".env") {
        return rest.is_empty() || (rest.starts_with('.') && !samples.iter().any(|sample| rest.ends_with(sample)));
    }
    const NAMES: &[&str] = &[
        "credentials.json",
        "credentials",
        ".netrc",
        "_netrc",
        ".npmrc",
        ".pypirc",
        ".pgpass",
        ".htpasswd",
        ".git-credentials",
        "service-account.json",
    ];
    const ENDS: &[&str] = &[".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".kdbx", ".ppk"];
    let ssh = ["id_rsa", "id_dsa", "id_ecdsa", "id_ed25519"].iter().any(|key| name.starts_with(key)) && !name.ends_with(".pub");
    let mut folders = path.as_bytes().split(|b| *b == b'/').rev().skip(1);
    let folder = folders.any(|folder| [&b".ssh"[..], b".aws", b".gnupg"].contains(&folder));
    ssh || folder || NAMES.contains(&&*name) || ENDS.iter().any(|end| name.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_secrets() {
        let secret = |name: &str| looks_secret(&RepoPath::new(name.as_bytes()));
        for name in [
            ".env",
            "x/.env.local",
            "id_rsa",
            "a/id_ed25519_work",
            "k.PEM",
            ".npmrc",
            "credentials.json",
            ".ssh/config",
            "home/.aws/x",
        ] {
            assert!(secret(name), "{name}");
        }
        for name in [".env.example", ".environment", "id_rsa.pub", "keys.rs", "key", "monkey"] {
            assert!(!secret(name), "{name}");
        }
    }
}
