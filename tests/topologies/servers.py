"""Real servers on loopback, started for the tests that need them: a Redis Cluster, Sentinels, TLS.

Debian's ``redis-server`` has all three; the binary that the embedded server comes with has no TLS. Ports are the
kernel's choice, and nothing outlives the tests.
"""

import random
import shutil
import socket
import ssl
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

from redis import Redis
from redis.exceptions import RedisError

from adapters.redis.embedded_server import server_program
from core.model.errors import ConfigurationError

PATIENCE = 90.0  # seconds, for a machine that is busy with something else
SLOTS = 16_384
PASSWORD = "not in any log"
SERVICE = "footnote"


def server_binary(*, tls: bool = False) -> str | None:
    """A Redis or Valkey server; with TLS where that is asked for. None where there is none."""
    found = shutil.which("redis-server") or shutil.which("valkey-server")
    if found or tls:
        return found
    with suppress(ConfigurationError):
        return server_program()
    return None


def wait_for(what: Callable[[], object], told: str) -> None:
    """Until it is so. Raises AssertionError with what was waited for."""
    until = time.monotonic() + PATIENCE
    while True:
        with suppress(RedisError, OSError):
            if what():
                return
        assert time.monotonic() < until, f"never: {told}"
        time.sleep(0.05)


def free_port() -> int:
    """A port that nobody listens on, as for a Cluster's node the one of its bus, 10,000 above.

    Both lie below the ports that the system gives to whoever connects, so that none is taken meanwhile.
    """
    while True:
        port = random.randrange(10_000, 22_000)
        with socket.socket() as probe, socket.socket() as bus, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            bus.bind(("127.0.0.1", port + 10_000))
            return port


@dataclass
class Server:
    """One server process."""

    port: int
    process: "subprocess.Popen[bytes]"

    @property
    def client(self) -> Any:
        return Redis(port=self.port, decode_responses=True, socket_timeout=5)

    def kill(self) -> None:
        """SIGKILL: it has no time to say goodbye."""
        self.process.kill()
        self.process.wait()


@contextmanager
def running(binary: str, folder: Path, port: int, *options: str, conf: str = "") -> Iterator[Server]:
    """A server in a folder of its own."""
    folder.mkdir()
    arguments = ["--dir", str(folder), "--appendonly", "yes", "--save", "", *options]
    if conf:
        (folder / "sentinel.conf").write_text(conf)
        arguments = ["--sentinel", *options]
    command = [binary, *([str(folder / "sentinel.conf")] if conf else []), *arguments]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, cwd=folder)
    try:
        yield Server(port, process)
    finally:
        process.kill()
        process.wait()


@dataclass
class Cluster:
    """Three primaries, each with a replica."""

    servers: list[Server] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"redis+cluster://{','.join(f'127.0.0.1:{server.port}' for server in self.servers)}"

    def whole(self) -> bool:
        """Whether every living node says that all slots have a primary."""
        return all("cluster_state:ok" in _info(one) for one in self.servers if one.process.poll() is None)


def _info(server: Server) -> str:
    told = server.client.execute_command("CLUSTER INFO")
    return "\n".join(f"{name}:{value}" for name, value in told.items()) if isinstance(told, dict) else str(told)


@contextmanager
def redis_cluster(binary: str, *, patience: float = PATIENCE) -> Iterator[Cluster]:
    """Six servers, joined; after ``patience``, in seconds, without a word from one of them the others take it for dead.

    Where none is to die it is long: on a busy machine a node may be silent for seconds.
    """
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="cluster-")))
        cluster = Cluster()
        for number in range(6):
            port = free_port()
            options = ["--port", str(port), "--cluster-enabled", "yes"]
            options += ["--cluster-node-timeout", str(round(patience * 1000))]
            options += ["--cluster-replica-validity-factor", "0"]
            cluster.servers.append(stack.enter_context(running(binary, folder / str(number), port, *options)))
        clients = [server.client for server in cluster.servers]
        for client in clients:
            wait_for(client.ping, "a node of the cluster answers")
        for number, client in enumerate(clients[:3]):
            client.execute_command("CLUSTER ADDSLOTSRANGE", number * SLOTS // 3, (number + 1) * SLOTS // 3 - 1)
        for client in clients[1:]:
            client.execute_command("CLUSTER MEET", "127.0.0.1", cluster.servers[0].port)
        wait_for(lambda: all("cluster_known_nodes:6" in _info(one) for one in cluster.servers), "all nodes know all")
        for number, client in enumerate(clients[3:]):
            primary = clients[number].execute_command("CLUSTER MYID")
            wait_for(partial(client.execute_command, "CLUSTER REPLICATE", primary), "a replica has its primary")
        wait_for(cluster.whole, "the cluster is whole")
        wait_for(lambda: all(c.info("replication")["connected_slaves"] == 1 for c in clients[:3]), "replicas follow")
        yield cluster


@dataclass
class Watched:
    """A primary and a replica that three Sentinels look after."""

    primary: Server
    replica: Server
    sentinels: list[Server]

    @property
    def url(self) -> str:
        hosts = ",".join(f"127.0.0.1:{server.port}" for server in self.sentinels)
        return f"redis+sentinel://{hosts}/{SERVICE}"


@contextmanager
def sentinel_trio(binary: str, *, patience: float = PATIENCE) -> Iterator[Watched]:
    """A primary, a replica and three Sentinels that agree by two; ``patience`` as for a Cluster."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="sentinel-")))
        port = free_port()
        primary = stack.enter_context(running(binary, folder / "primary", port, "--port", str(port)))
        wait_for(primary.client.ping, "the primary answers")
        second = free_port()
        options = ["--port", str(second), "--replicaof", "127.0.0.1", str(port)]
        replica = stack.enter_context(running(binary, folder / "replica", second, *options))
        sentinels = []
        for number in range(3):
            listens = free_port()
            conf = (
                f"port {listens}\nsentinel monitor {SERVICE} 127.0.0.1 {port} 2\n"
                f"sentinel down-after-milliseconds {SERVICE} {round(patience * 1000)}\n"
                f"sentinel failover-timeout {SERVICE} 6000\n"
            )
            sentinels.append(stack.enter_context(running(binary, folder / f"s{number}", listens, conf=conf)))
        for one in sentinels:
            wait_for(partial(_tells, one, "num-slaves", "1"), "a sentinel knows the replica")
            wait_for(partial(_tells, one, "num-other-sentinels", "2"), "a sentinel knows the others")
        yield Watched(primary, replica, sentinels)


def _tells(sentinel: Server, name: str, value: str) -> bool:
    told = sentinel.client.execute_command("SENTINEL MASTER", SERVICE)
    pairs = told if isinstance(told, dict) else dict(zip(told[::2], told[1::2], strict=True))
    return str(pairs.get(name, "")) == value


@dataclass
class Secured:
    """A server that speaks TLS alone, and asks for a password."""

    port: int
    authority: Path  # the certificate that signed the server's

    @property
    def url(self) -> str:
        return f"rediss://:{PASSWORD.replace(' ', '%20')}@localhost:{self.port}/0?ssl_ca_certs={self.authority}"


@contextmanager
def tls_server(binary: str) -> Iterator[Secured]:
    """A server whose certificate an authority of its own has signed, for localhost."""
    with tempfile.TemporaryDirectory(prefix="tls-") as name:
        folder = Path(name)
        _certificates(folder)
        port = free_port()
        options = ["--port", "0", "--tls-port", str(port), "--requirepass", PASSWORD, "--tls-auth-clients", "no"]
        for option, file in (("cert", "server.crt"), ("key", "server.key"), ("ca-cert", "ca.crt")):
            options += [f"--tls-{option}-file", str(folder / file)]
        with running(binary, folder / "server", port, *options):
            made = Secured(port, folder / "ca.crt")
            context = ssl.create_default_context(cafile=str(made.authority))

            def answers() -> bool:
                with (
                    socket.create_connection(("localhost", port), timeout=5) as plain,
                    context.wrap_socket(plain, server_hostname="localhost") as secured,
                ):
                    return bool(secured.version())

            wait_for(answers, "the server speaks TLS")
            yield made


def _certificates(folder: Path) -> None:
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import NameOID

    def named(name: str) -> x509.Name:
        return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])

    now = datetime.now(UTC)
    signer = ec.generate_private_key(ec.SECP256R1())
    for name, subject in (("ca", "An authority"), ("server", "localhost")):
        key = signer if name == "ca" else ec.generate_private_key(ec.SECP256R1())
        certificate = (
            x509.CertificateBuilder()
            .subject_name(named(subject))
            .issuer_name(named("An authority"))
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(days=1))
            .not_valid_after(now + timedelta(days=2))
            .add_extension(x509.BasicConstraints(ca=name == "ca", path_length=None), critical=True)
            .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
            .sign(signer, hashes.SHA256())
        )
        (folder / f"{name}.crt").write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
        (folder / f"{name}.key").write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
            )
        )
