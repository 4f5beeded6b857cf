"""A certificate authority of one's own, as a company has one, and what it signs."""

from datetime import UTC, datetime, timedelta

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

PEM = serialization.Encoding.PEM


class Authority:
    """`file`: its certificate, for those who are to trust it."""

    def __init__(self, folder):
        self.folder, self.key = folder, ec.generate_private_key(ec.SECP256R1())
        self.certificate = self._sign("tests' authority", self.key.public_key(), is_ca=True)
        self.file = folder / "authority.pem"
        self.file.write_bytes(self.certificate.public_bytes(PEM))

    def certify(self, *hosts):
        """A file with a key and its certificate for these names."""
        key = ec.generate_private_key(ec.SECP256R1())
        names = x509.SubjectAlternativeName([x509.DNSName(host) for host in hosts])
        certificate = self._sign(hosts[0], key.public_key(), names)
        text = key.private_bytes(
            PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        file = self.folder / f"{hosts[0]}.pem"
        file.write_bytes(text + certificate.public_bytes(PEM))
        return file

    def _sign(self, name, public_key, *extensions, is_ca=False):
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        issuer = subject if is_ca else self.certificate.subject
        now = datetime.now(UTC)
        builder = (
            x509.CertificateBuilder(issuer, subject, public_key)
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(days=1))
            .not_valid_after(now + timedelta(days=30))
            .add_extension(x509.BasicConstraints(ca=is_ca, path_length=None), critical=True)
            .add_extension(
                x509.AuthorityKeyIdentifier.from_issuer_public_key(self.key.public_key()),
                critical=False,
            )
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(public_key), critical=False)
        )
        if is_ca:
            builder = builder.add_extension(SIGNS_CERTIFICATES, critical=True)
        for extension in extensions:
            builder = builder.add_extension(extension, critical=False)
        return builder.sign(self.key, hashes.SHA256())


SIGNS_CERTIFICATES = x509.KeyUsage(
    digital_signature=True,
    key_cert_sign=True,
    crl_sign=True,
    content_commitment=False,
    key_encipherment=False,
    data_encipherment=False,
    key_agreement=False,
    encipher_only=False,
    decipher_only=False,
)
