"""Ed25519 keys and signatures: who released a bundle; needs the extra ``crypsis[sign]``.

A signature is made over the bytes of ``manifest.json``, which lists the digest of every other file, and stands beside
it in ``manifest.sig`` (64 bytes). The manifest names the public key, so that a signature cannot be left out unnoticed.
"""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crypsis.errors import PlanError, name_step, word
from crypsis.table.files import write_atomically

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

SIGNATURE = "manifest.sig"
INSTALL = 'pip install "crypsis[sign]"'


@dataclass(frozen=True)
class SigningKey:
    """A private key that signs releases."""

    public: str  # its public key, 64 hexadecimal digits
    _key: Ed25519PrivateKey

    @classmethod
    def read(cls, path: str | Path) -> SigningKey:
        """Read a private key."""
        ed25519, serialization = _cryptography()
        path = Path(path)
        content = _content(path)
        if path.stat().st_mode & 0o077:
            raise PlanError(f"{path}: others may read this private key; make it private first: chmod 600 {path}")
        try:
            key = serialization.load_pem_private_key(content, password=None)
        except (ValueError, TypeError):
            key = None
        if not isinstance(key, ed25519.Ed25519PrivateKey):
            raise PlanError(
                f"{path}: is no Ed25519 private key without a password in PEM format; make one with "
                f"{name_step('keys new')}"
            )
        return cls(key.public_key().public_bytes_raw().hex(), key)

    def sign(self, manifest: Path) -> None:
        """Write the signature of a manifest beside it."""
        write_atomically(manifest.with_name(SIGNATURE), self._key.sign(manifest.read_bytes()))
        manifest.with_name(SIGNATURE).chmod(manifest.stat().st_mode & 0o777)


def new_keys(path: str | Path) -> tuple[Path, Path, str]:
    """Make a key pair.

    Parameters
    ----------
    path : path
        Of the private key, which only its owner may read; the public key gets the same name with ``.pub``.

    Returns
    -------
    tuple
        Paths of the private and of the public key, and the public key as 64 hexadecimal digits.

    Raises
    ------
    TableError
        If one of the files exists: a key is never overwritten.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     private, public, key = new_keys(f"{folder}/office.key")
    ...     private.name, public.name, read_public(public) == key
    ('office.key', 'office.key.pub', True)
    """
    ed25519, serialization = _cryptography()
    path = Path(path)
    beside = path.with_name(f"{path.name}.pub")
    if beside.exists():
        another = word(python="path", command="path with --to", studio="path")
        raise PlanError(f"{beside}: exists already and is never overwritten; choose another {another}")
    key = ed25519.Ed25519PrivateKey.generate()
    pem, pkcs8 = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    write_atomically(path, key.private_bytes(pem, pkcs8, serialization.NoEncryption()))
    info = serialization.PublicFormat.SubjectPublicKeyInfo
    write_atomically(beside, key.public_key().public_bytes(pem, info), mode=0o644)
    return path, beside, key.public_key().public_bytes_raw().hex()


def read_public(path: str | Path) -> str:
    """Read a public key."""
    ed25519, serialization = _cryptography()
    content = _content(Path(path))
    if b"PRIVATE KEY" in content:
        raise PlanError(f"{path}: is a private key; a release is verified with the public one, which ends in .pub")
    try:
        key = serialization.load_pem_public_key(content)
    except ValueError:
        key = None
    if not isinstance(key, ed25519.Ed25519PublicKey):
        raise PlanError(f"{path}: is no Ed25519 public key in PEM format; ask for the file that ends in .pub")
    return str(key.public_bytes_raw().hex())


def signature_fits(manifest: Path, public: str) -> bool:
    """Whether the signature beside a manifest was made over its bytes with the key that belongs to `public`."""
    from cryptography.exceptions import InvalidSignature

    ed25519, _ = _cryptography()
    try:
        key = ed25519.Ed25519PublicKey.from_public_bytes(bytes.fromhex(public))
        key.verify(manifest.with_name(SIGNATURE).read_bytes(), manifest.read_bytes())
    except (OSError, ValueError, InvalidSignature):
        return False
    return True


def available() -> bool:
    """Whether signatures can be made and checked here."""
    try:
        _cryptography()
    except PlanError:
        return False
    return True


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        reason = (error.strerror or "unknown reason").lower()
        raise PlanError(f"{path}: the key cannot be read ({reason}); make one with {name_step('keys new')}") from None


def _cryptography() -> tuple[Any, Any]:
    """The parts of the package that are needed, or a sentence that names the extra."""
    try:
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ImportError:
        raise PlanError(
            'signing and checking signatures needs the package "cryptography", which is not installed; install it '
            f"with: {INSTALL}"
        ) from None
    return ed25519, serialization


def fingerprint_seed(seed: int, salt: bytes | None = None) -> str:
    """Beside keys and signatures of a bundle: salt and digest of a seed, slow to compute against guesses."""
    salt = secrets.token_bytes(16) if salt is None else salt
    digest = hashlib.scrypt(str(seed).encode(), salt=salt, n=2**14, r=8, p=1, dklen=32)
    return f"{salt.hex()}:{digest.hex()}"
