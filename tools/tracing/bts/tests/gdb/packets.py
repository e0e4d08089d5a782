#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Test bts gdb --stdio with packets that gdb would never send: packets.py BTS TRACE [N]

Each bad packet must get an error or an empty reply, and a good packet after the bad packet must be
answered. A good packet after N randomly damaged packets must be answered, too.
"""

import random
import subprocess
import sys
import threading

PACKET_MAX = 0x10000

# Pairs of a bad packet and the text with which the reply must begin. An empty text means that the
# reply must be empty.
BAD = [
    (b'', b''), (b'vMustReplyEmpty', b''), (b'Zx', b''), (b'Z2,0,1', b''),
    (b'm', b'E16'), (b'm,', b'E16'), (b'm1', b'E16'), (b'm1,', b'E16'), (b'm1,2x', b'E16'),
    (b'm' + 17 * b'1' + b',1', b'E16'), (b'm' + 16 * b'f' + b',' + 16 * b'f', b'E0e'),
    (b'm0,0', b'E0e'), (b'm-1,1', b'E16'), (b'mffffffff81000000,4', b'E0e'),
    (b'p', b'E16'), (b'pxyz', b'E16'), (b'g1', b'E16'),
    (b'H', b'E03'), (b'Hg', b'E03'), (b'Hgp', b'E03'), (b'Hgp.', b'E03'), (b'Hg-', b'E03'),
    (b'Hg-2', b'E03'), (b'Hgp1.1', b'E03'), (b'Hgp-1.', b'E03'), (b'Hg123456789', b'E03'),
    (b'T', b'E03'), (b'Tp-1.fffffffff', b'E03'),
    (b'M0,1:00', b'E1e'), (b'X0,1:a', b'E1e'), (b'G00', b'E1e'), (b'P0=0', b'E1e'),
    (b'qXfer:', b'E16'), (b'qXfer:btrace:read:', b'E16'), (b'qXfer:btrace:read:all:0', b'E16'),
    (b'qXfer:btrace:read:all:0,', b'E16'), (b'qXfer:btrace:read:all:x,1', b'E16'),
    (b'qXfer:btrace:read:all:0,' + 17 * b'1', b'E16'), (b'qXfer:read:0,1', b'E16'),
    (b'qXfer:btrace:write:all:0,1', b'E16'), (b'qXfer:memory-map:read::0,100', b'E00'),
    (b'qXfer:features:read:other.xml:0,100', b'E00'), (b'qXfer::read::0,1', b'E00'),
    (b'qXfer:auxv:read::' + 16 * b'f' + b',' + 16 * b'f', b'l'),
    (b'qXfer:threads:read::0,0', b'm'),
    (b'g\0', b'E16'), (b'm' + PACKET_MAX * b'0' + b',1', b'E16'),
]


class Stub:
    """A running stub. This script plays the role of gdb."""

    def __init__(self, bts, trace):
        self.process = subprocess.Popen(
            [bts, 'gdb', '--stdio', trace], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL)

    def send(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def byte(self):
        c = self.process.stdout.read(1)
        if not c:
            sys.exit('the stub exited with status %d' % self.process.wait())
        return c

    def reply(self):
        while self.byte() != b'$':
            pass
        data, total = b'', 0
        while (c := self.byte()) != b'#':
            data += c
            total += c[0]
        if int(self.byte() + self.byte(), 16) != total % 256:
            sys.exit('wrong checksum of %r' % data)
        return data

    def ask(self, packet):
        self.send(b'$%s#%02x' % (packet, sum(packet) % 256))
        return self.reply()


def check_bad(stub):
    for packet, wanted in BAD:
        got = stub.ask(packet)
        if not got.startswith(wanted) or (not wanted and got):
            sys.exit('%r: the reply is %r, not %r' % (packet[:60], got[:60], wanted))
        if not stub.ask(b'?').startswith(b'T05thread:p'):
            sys.exit('after the bad packet %r, the good packet "?" gets a wrong reply' % packet)


# While acknowledgements are on, the stub answers a wrong checksum with "-", and repeats its reply
# when it receives "-".
def check_sums(stub):
    stub.send(b'$?#00')
    if stub.byte() != b'-':
        sys.exit('the stub accepts a wrong checksum')
    first = stub.ask(b'qC')
    stub.send(b'-')
    if stub.reply() != first:
        sys.exit('the stub does not repeat its reply')


def check_random(stub, count):
    rand = random.Random(1)
    known = [packet for packet, _ in BAD] + [
        b'qSupported:multiprocess+', b'qXfer:btrace:read:all:0,1000', b'g', b'm400000,40',
        b'qXfer:libraries-svr4:read::0,ffff', b'qfThreadInfo', b'Hg0', b'vCont;c', b's', b'Z0,0,1']
    data = b''
    for _ in range(count):
        packet = bytearray(rand.choice(known)[:200])
        for _ in range(rand.randrange(4)):
            at = rand.randrange(len(packet) + 1)
            packet[at:at + rand.randrange(3)] = rand.randbytes(rand.randrange(3))
        # The packets k and D would end the stub.
        if packet[:1] in (b'k', b'D'):
            continue
        data += b'$' + bytes(packet) + b'#00'
    # Read the replies to all packets while another thread sends the packets.
    sender = threading.Thread(target=stub.send, args=(data + b'$qC#b4',))
    sender.start()
    while not stub.reply().startswith(b'QCp'):
        pass
    sender.join()


def main():
    stub = Stub(sys.argv[1], sys.argv[2])
    check_sums(stub)
    check_bad(stub)
    if stub.ask(b'QStartNoAckMode') != b'OK':
        sys.exit('acknowledgements cannot be turned off')
    check_random(stub, int(sys.argv[3]) if len(sys.argv) > 3 else 1000)
    stub.process.stdin.close()
    status = stub.process.wait()
    if status:
        sys.exit('the stub ends with status %d' % status)


main()
