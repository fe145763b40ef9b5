// The JVM's side of GuavaLive: java -cp guava.jar GuavaPeer.java SEED (FILE
// COUNT)...
//
// Reads each FILE as a filter of COUNT strings at a rate of 0.02 that holds
// ours_SEED, ours_SEED+1 and so on; writes FILE.guava, with as many keys of its
// own, and FILE.both, with both. Prints a line for each: how many of absent_0
// to absent_9999 pass the file, and how many keys it seems to have.
import com.google.common.hash.BloomFilter;
import com.google.common.hash.Funnel;
import com.google.common.hash.Funnels;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

public final class GuavaPeer {
  private static final Funnel<CharSequence> TEXT =
      Funnels.stringFunnel(StandardCharsets.UTF_8);

  private static void write(BloomFilter<CharSequence> filter, Path path)
      throws IOException {
    try (OutputStream out = Files.newOutputStream(path)) {
      filter.writeTo(out);
    }
  }

  public static void main(String[] args) throws IOException {
    long seed = Long.parseUnsignedLong(args[0]);
    for (int arg = 1; arg + 1 < args.length; arg += 2) {
      Path path = Path.of(args[arg]);
      int count = Integer.parseInt(args[arg + 1]);
      BloomFilter<CharSequence> ours;
      try (InputStream in = Files.newInputStream(path)) {
        ours = BloomFilter.readFrom(in, TEXT);
      }
      BloomFilter<CharSequence> theirs = BloomFilter.create(TEXT, count, 0.02);
      for (int i = 0; i < count; i++) {
        String number = Long.toUnsignedString(seed + i);
        if (!ours.mightContain("ours_" + number)) {
          throw new IllegalStateException("lost ours_" + number);
        }
        theirs.put("theirs_" + number);
      }
      int passed = 0;
      for (int i = 0; i < 10_000; i++) {
        if (ours.mightContain("absent_" + i)) {
          passed++;
        }
      }
      System.out.println(passed + " " + ours.approximateElementCount());
      write(theirs, Path.of(path + ".guava"));
      theirs.putAll(ours);
      write(theirs, Path.of(path + ".both"));
    }
  }
}
