"""A daemon in the place of another: no connection is refused meanwhile, none is cut."""

import signal
import threading
import time

from support import case, programs
from support.backends import echo
from support.ports import is_listening
from support.process import Daemon
from support.streams import CLEAN, Received, connect, random_bytes, read_exactly, read_until_end
from support.tunnel import BOTH_CARRIERS, TCP
from support.waiting import until

ENDS = ("server", "client")


class Replacement(case.SystemTest):
    def tunnel_with_control(self, kind, target, daemon=()):
        """Each of its ends has a control socket."""
        tunnel = self.tunnel(kind, target, daemon=["drain = 20s", *daemon])
        for end in ENDS:
            getattr(tunnel, end).stop()
            file = tunnel.folder / f"{end}.conf"
            file.write_text(file.read_text().replace(
                "[daemon]", f"[daemon]\ncontrol = unix:{end}.control"))
            port = tunnel.server_port if end == "server" else tunnel.client_port
            setattr(tunnel, end, self.start_daemon(file, f"{end}-0", [port]))
        return tunnel

    def replace(self, tunnel, end, generation, change=lambda text: text):
        """Starts the successor; returns it, and the one that leaves."""
        file = tunnel.folder / f"{end}.conf"
        file.write_text(change(file.read_text()))
        before = getattr(tunnel, end)
        after = Daemon([programs.culvert(), "run", "--replace", file], tunnel.folder,
                       f"{end}-{generation}")
        self.addCleanup(self._stop, after)
        setattr(tunnel, end, after)
        return after, before

    def assert_replaced(self, after, before):
        after.wait_for_log("the daemon that ran before has been replaced", 30)
        before.wait_for_log("info +replaced: ", 10)

    @case.for_kinds(*BOTH_CARRIERS)
    def test_under_churn_nothing_is_refused(self, kind):
        service = self.service(echo)
        tunnel = self.tunnel_with_control(kind, service.target)
        stop = threading.Event()
        done, faults = [0], []

        def churn(number):
            word = random_bytes(2000, number)
            while not stop.is_set():
                try:
                    with connect(tunnel.client_port) as application:
                        application.sendall(word)
                        if read_exactly(application, len(word)) != word:
                            raise AssertionError("other bytes came back")
                    done[0] += 1
                except Exception as fault:  # told to the test below
                    faults.append(repr(fault))

        threads = [threading.Thread(target=churn, args=(n,)) for n in range(8)]
        for thread in threads:
            thread.start()
        try:
            for generation in range(1, 4):
                for end in ENDS:
                    before_count = done[0]
                    after, before = self.replace(tunnel, end, generation)
                    self.assert_replaced(after, before)
                    self.assertEqual(before.wait(30), 0, before.log())
                    until(lambda: done[0] > before_count + 20, 20, "connections go on")
        finally:
            stop.set()
            for thread in threads:
                thread.join()
        self.assertEqual(faults, [])

    @case.for_kinds(*BOTH_CARRIERS)
    def test_running_sessions_end_with_the_daemon_they_began_with(self, kind):
        backend = self.backend()
        tunnel = self.tunnel_with_control(kind, backend.target)
        near, far = tunnel.open(backend)
        leaving = []
        for end in ENDS:
            after, before = self.replace(tunnel, end, 1)
            self.assert_replaced(after, before)
            leaving.append(before)
        fresh_near, fresh_far = tunnel.open(backend)
        fresh_near.sendall(b"by the new ones")
        self.assertEqual(read_exactly(fresh_far, 15), b"by the new ones")
        near.sendall(b"by the old ones")
        self.assertEqual(read_exactly(far, 15), b"by the old ones")
        self.assertTrue(all(daemon.running() for daemon in leaving))
        far.sendall(b"good bye")
        far.close()
        self.assertEqual(read_until_end(near), Received(b"good bye", CLEAN))
        near.close()
        for daemon in leaving:
            self.assertEqual(daemon.wait(10), 0)
        self.assertTrue(is_listening(tunnel.server_port) and is_listening(tunnel.client_port))
        self.assertTrue((tunnel.folder / "server.control").exists())

    def test_one_that_can_not_start_leaves_the_other_alone(self):
        service = self.service(echo)
        tunnel = self.tunnel_with_control(TCP, service.target)
        good = (tunnel.folder / "server.conf").read_text()
        for change in (
            lambda text: text + "nonsense\n",
            lambda text: text + f"[client.more]\nlisten = {service.port}\n"
                                "connect = tcp://127.0.0.1:1\n" + next(
                                    line for line in text.splitlines() if line.startswith("psk")),
        ):
            running = tunnel.server
            after, before = self.replace(tunnel, "server", 1, change)
            self.assertEqual(after.wait(20), 2, after.log())
            tunnel.server = running
            (tunnel.folder / "server.conf").write_text(good)
            self.assertTrue(before.running())
            self.assertEqual(before.log_lines("replaced"), [])
            with connect(tunnel.client_port) as application:
                application.sendall(b"still there")
                self.assertEqual(read_exactly(application, 11), b"still there")
        self.assertTrue((tunnel.folder / "server.control").exists())
        after, before = self.replace(tunnel, "server", 2)
        self.assert_replaced(after, before)

    def test_with_nobody_to_replace_it_simply_starts(self):
        tunnel = self.tunnel_with_control(TCP, self.service(echo).target)
        tunnel.server.stop()
        after, _ = self.replace(tunnel, "server", 1)
        after.wait_for_log("no daemon to replace at unix:.*server.control", 20)
        after.wait_for_log("ready", 20)
        with connect(tunnel.client_port) as application:
            application.sendall(b"hello")
            self.assertEqual(read_exactly(application, 5), b"hello")

    def test_without_a_control_socket_it_says_what_is_missing(self):
        tunnel = self.tunnel(TCP, self.service(echo).target)
        after, before = self.replace(tunnel, "server", 1)
        self.assertEqual(after.wait(20), 2)
        self.assertIn("--replace needs control = unix:PATH in [daemon], at both daemons",
                      after.log())
        self.assertTrue(before.running())
        tunnel.server = before

    def test_places_that_come_and_go(self):
        service = self.service(echo)
        tunnel = self.tunnel_with_control(TCP, service.target)
        path = tunnel.folder / "plain.sock"
        after, before = self.replace(
            tunnel, "client", 1,
            lambda text: text + text[text.index("[client.app]"):].replace("client.app", "client.x")
            .replace(f"listen = 127.0.0.1:{tunnel.client_port}", f"listen = unix:{path}"))
        self.assert_replaced(after, before)
        until(lambda: not before.running(), 20, "the first has ended")
        self.assertTrue(path.exists())
        again, middle = self.replace(tunnel, "client", 2)  # it takes the unix socket over as well
        self.assert_replaced(again, middle)
        until(lambda: not middle.running(), 20, "the second has ended")
        self.assertTrue(path.exists())
        last, again = self.replace(tunnel, "client", 3,
                                   lambda text: text[:text.index("[client.x]")])
        self.assert_replaced(last, again)
        last.wait_for_log("warning +unix:.*plain.sock: nobody listens there any more", 5)
        self.assertFalse(path.exists())

    def test_a_second_signal_does_not_wait(self):
        backend = self.backend()
        tunnel = self.tunnel_with_control(TCP, backend.target)
        near, _ = tunnel.open(backend)
        after, before = self.replace(tunnel, "client", 1)
        self.assert_replaced(after, before)
        began = time.monotonic()
        before.send_signal(signal.SIGTERM)
        self.assertEqual(before.wait(10), 1)
        self.assertLess(time.monotonic() - began, 10)
        self.assertTrue(before.log_lines("stopped: 1 sessions were cut"))
        with self.assertRaises(ConnectionResetError):
            near.recv(1)


if __name__ == "__main__":
    case.main()
