// A JVM service that shares a filter: java -cp guava.jar RedisPeer.java SOCKET
// NAME BITS HASHES SEED COUNT
//
// Puts theirs_SEED, theirs_SEED+1 and so on, COUNT of them, and fails if it
// misses one of as many ours_SEED... Prints how many of absent_0 to
// absent_9999 pass. Speaks Redis's protocol by itself: SETBIT and GETBIT in a
// line, an integer back.
import com.google.common.hash.Hashing;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;

public final class RedisPeer {
  private final SocketChannel channel;
  private final BufferedReader replies;
  private final String name;
  private final long bits;
  private final int hashes;

  private RedisPeer(String socket, String name, long bits, int hashes)
      throws IOException {
    channel = SocketChannel.open(StandardProtocolFamily.UNIX);
    channel.connect(UnixDomainSocketAddress.of(socket));
    replies =
        new BufferedReader(
            new InputStreamReader(
                Channels.newInputStream(channel), StandardCharsets.US_ASCII));
    this.name = name;
    this.bits = bits;
    this.hashes = hashes;
  }

  // Whether all bits of the key were set; sets them if told to.
  private boolean ask(String key, boolean set) throws IOException {
    long hash =
        Hashing.murmur3_128().hashString(key, StandardCharsets.UTF_8).asLong();
    int hash1 = (int) hash;
    int hash2 = (int) (hash >>> 32);
    StringBuilder commands = new StringBuilder();
    for (int i = 1; i <= hashes; i++) {
      int n = hash1 + i * hash2;
      if (n < 0) {
        n = ~n;
      }
      commands.append(set ? "SETBIT " : "GETBIT ").append(name).append(' ');
      commands.append(n % bits).append(set ? " 1\r\n" : "\r\n");
    }
    ByteBuffer buffer =
        ByteBuffer.wrap(commands.toString().getBytes(StandardCharsets.US_ASCII));
    while (buffer.hasRemaining()) {
      channel.write(buffer);
    }
    boolean all = true;
    for (int i = 0; i < hashes; i++) {
      String reply = replies.readLine();
      if (!":0".equals(reply) && !":1".equals(reply)) {
        throw new IOException("Redis says " + reply);
      }
      all &= ":1".equals(reply);
    }
    return all;
  }

  public static void main(String[] args) throws IOException {
    RedisPeer peer =
        new RedisPeer(
            args[0], args[1], Long.parseLong(args[2]), Integer.parseInt(args[3]));
    long seed = Long.parseUnsignedLong(args[4]);
    int count = Integer.parseInt(args[5]);
    for (int i = 0; i < count; i++) {
      String number = Long.toUnsignedString(seed + i);
      if (!peer.ask("ours_" + number, false)) {
        throw new IllegalStateException("lost ours_" + number);
      }
      peer.ask("theirs_" + number, true);
    }
    int passed = 0;
    for (int i = 0; i < 10_000; i++) {
      if (peer.ask("absent_" + i, false)) {
        passed++;
      }
    }
    System.out.println(passed);
  }
}
