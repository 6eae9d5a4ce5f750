import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Random;

/** Maps a file and touches its pages, some more often than others: Mapped FILE RATE COUNTER. */
class Mapped {
    public static void main(String[] words) throws Exception {
        var file = FileChannel.open(Path.of(words[0]), StandardOpenOption.READ);
        var map = file.map(FileChannel.MapMode.READ_ONLY, 0, file.size());
        var counter =
            FileChannel.open(Path.of(words[2]), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        int pages = (int) (file.size() / 4096);
        double rate = Double.parseDouble(words[1]);
        var random = new Random(1);
        long sum = 0;
        for (int page = 0; page < pages; page++) sum += map.get((int) (page * 7919L % pages) * 4096);
        long began = System.nanoTime();
        for (long done = 1; ; done++) {
            int rank = (int) (pages * Math.pow(random.nextDouble(), 3));
            sum += map.get((int) (rank * 7919L % pages) * 4096);
            if (done % 10 > 0) continue;
            counter.write(ByteBuffer.wrap(String.format("%016d", done).getBytes()), 0);
            double ahead = done / rate - (System.nanoTime() - began) / 1e9;
            if (ahead > 0) Thread.sleep((long) (ahead * 1e3), (int) (ahead * 1e9 % 1e6));
            else if (ahead < -1) began -= (long) (ahead * 1e9);
            if (sum == 1) System.out.println(sum);
        }
    }
}
