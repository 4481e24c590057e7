// The job of ten million rows on JDBC: `java Bulktest URL STAGE ROWS [THREADS] [BATCH]`.
//
// One stage a process. Prints one line of JSON: rows, seconds, rows/s, CPU seconds and µs a row of this process while
// the stage ran, without the start of the virtual machine. `create` makes the table anew. Stages as in
// docs/guide's page of the job.

import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;

public final class Bulktest {
    /** Rows of one connection before insert A takes another. */
    private static final int PER_CONNECTION = 1000;
    private static final int TEXT = 45;
    private static final char[] LETTERS =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".toCharArray();

    private final String url;
    private final boolean postgres;
    private final long rows;
    private final int threads;
    private final int batch;
    private String told = "";

    private Bulktest(String url, long rows, int threads, int batch) {
        this.url = url;
        this.postgres = url.startsWith("jdbc:postgresql:");
        this.rows = rows;
        this.threads = threads;
        this.batch = batch;
    }

    public static void main(String[] words) throws Exception {
        if (words.length < 3) {
            System.err.println("usage: Bulktest URL STAGE ROWS [THREADS 15] [BATCH 10000]");
            System.exit(2);
        }
        int threads = words.length > 3 ? Integer.parseInt(words[3]) : 15;
        int batch = words.length > 4 ? Integer.parseInt(words[4]) : 10_000;
        Bulktest job = new Bulktest(words[0], Long.parseLong(words[2]), threads, batch);
        String stage = words[1];
        // The driver's classes and the first connection are no part of a stage.
        job.connect().close();
        long cpu = cpu();
        long start = System.nanoTime();
        long done = switch (stage) {
            case "create" -> job.create();
            case "insertA" -> job.insertSingly(false);
            case "insertA1" -> job.insertSingly(true);
            case "insertB" -> job.insertMany();
            case "select" -> job.select();
            case "alter" -> job.alter();
            case "update1" -> job.updateSingly();
            case "update2" -> job.updateJoined();
            case "update3" -> job.updateByTable();
            case "point" -> job.point();
            default -> throw new IllegalArgumentException("no such stage: " + stage);
        };
        double seconds = (System.nanoTime() - start) / 1e9;
        double spent = (cpu() - cpu) / 1e9;
        System.out.printf(
            "{\"stage\":\"%s\",\"rows\":%d,\"seconds\":%.3f,\"rows_per_second\":%.0f,\"cpu_seconds\":%.3f,\"cpu_us_per_row\":%.3f%s}%n",
            stage, done, seconds, done / seconds, spent, done == 0 ? 0 : spent * 1e6 / done, job.told);
    }

    private static long cpu() {
        return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
    }

    private Connection connect() throws Exception {
        return DriverManager.getConnection(url);
    }

    private static void run(Connection connection, String... statements) throws Exception {
        try (Statement statement = connection.createStatement()) {
            for (String text : statements) {
                statement.execute(text);
            }
        }
    }

    private long create() throws Exception {
        try (Connection connection = connect()) {
            run(connection, "DROP TABLE IF EXISTS bulktest", "DROP TABLE IF EXISTS bulktest_temp", "DROP TABLE IF EXISTS bulktest_new",
                postgres
                    ? "CREATE TABLE bulktest (id SERIAL PRIMARY KEY, text VARCHAR(45))"
                    : "CREATE TABLE bulktest (id INT AUTO_INCREMENT PRIMARY KEY, text VARCHAR(45)) ENGINE=InnoDB");
        }
        return 0;
    }

    /** Runs the work in all threads, each with its number, and adds up the rows that they tell. */
    private long inThreads(Work work) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        try {
            List<Callable<Long>> all = new ArrayList<>();
            for (int thread = 0; thread < threads; thread++) {
                int number = thread;
                all.add(() -> work.run(number));
            }
            long sum = 0;
            for (Future<Long> one : pool.invokeAll(all)) {
                sum += one.get();
            }
            return sum;
        } finally {
            pool.shutdownNow();
        }
    }

    private interface Work {
        long run(int thread) throws Exception;
    }

    /** The first row, counted from 0, of a thread's share; that of the thread after the last one is the number of rows. */
    private long share(int thread) {
        return rows * thread / threads;
    }

    private static String text(SplittableRandom random, char[] space) {
        for (int at = 0; at < TEXT; at++) {
            space[at] = LETTERS[random.nextInt(LETTERS.length)];
        }
        return new String(space);
    }

    private long insertSingly(boolean oneTransaction) throws Exception {
        return inThreads(thread -> {
            SplittableRandom random = new SplittableRandom(thread);
            char[] space = new char[TEXT];
            long left = share(thread + 1) - share(thread);
            long done = 0;
            while (done < left) {
                try (Connection connection = connect();
                     PreparedStatement insert = connection.prepareStatement("INSERT INTO bulktest (text) VALUES (?)")) {
                    connection.setAutoCommit(!oneTransaction);
                    long end = oneTransaction ? left : Math.min(left, done + PER_CONNECTION);
                    for (; done < end; done++) {
                        insert.setString(1, text(random, space));
                        insert.executeUpdate();
                    }
                    if (oneTransaction) {
                        connection.commit();
                    }
                }
            }
            return done;
        });
    }

    private static String values(String head, String marks, int count) {
        StringBuilder text = new StringBuilder(head.length() + count * (marks.length() + 1)).append(head);
        for (int at = 0; at < count; at++) {
            text.append(at == 0 ? "" : ",").append(marks);
        }
        return text.toString();
    }

    private long insertMany() throws Exception {
        AtomicLong next = new AtomicLong();
        return inThreads(thread -> {
            SplittableRandom random = new SplittableRandom(thread);
            char[] space = new char[TEXT];
            long done = 0;
            try (Connection connection = connect();
                 PreparedStatement whole = connection.prepareStatement(values("INSERT INTO bulktest (text) VALUES ", "(?)", batch))) {
                for (long from; (from = next.getAndAdd(batch)) < rows;) {
                    int count = (int) Math.min(batch, rows - from);
                    PreparedStatement insert = count == batch ? whole
                        : connection.prepareStatement(values("INSERT INTO bulktest (text) VALUES ", "(?)", count));
                    for (int at = 1; at <= count; at++) {
                        insert.setString(at, text(random, space));
                    }
                    done += insert.executeUpdate();
                }
            }
            return done;
        });
    }

    private ResultSet stream(Connection connection, String query) throws Exception {
        if (postgres) {
            connection.setAutoCommit(false);
        }
        Statement statement = connection.createStatement(ResultSet.TYPE_FORWARD_ONLY, ResultSet.CONCUR_READ_ONLY);
        statement.setFetchSize(10_000);
        return statement.executeQuery(query);
    }

    private record Row(int id, String text) {}

    private long select() throws Exception {
        long sum = 0;
        long letters = 0;
        long count = 0;
        try (Connection connection = connect(); ResultSet all = stream(connection, "SELECT id, text FROM bulktest")) {
            while (all.next()) {
                Row row = new Row(all.getInt(1), all.getString(2));
                sum += row.id();
                letters += row.text().length();
                count++;
            }
        }
        told = String.format(",\"sum\":%d,\"letters\":%d", sum, letters);
        return count;
    }

    private long alter() throws Exception {
        try (Connection connection = connect()) {
            run(connection, "ALTER TABLE bulktest ADD COLUMN hashval VARCHAR(255)");
        }
        return rows;
    }

    private static MessageDigest digest() throws Exception {
        return MessageDigest.getInstance("SHA-1");
    }

    private static String hash(MessageDigest digest, String text) {
        return HexFormat.of().formatHex(digest.digest(text.getBytes(StandardCharsets.UTF_8)));
    }

    /** Reads the table with one connection and hands batches to the threads. */
    private long fromTable(Connection reading, Taking taking) throws Exception {
        BlockingQueue<List<Row>> queue = new ArrayBlockingQueue<>(2 * threads);
        Thread reader = new Thread(() -> {
            try {
                try (ResultSet all = stream(reading, "SELECT id, text FROM bulktest")) {
                    List<Row> rows = new ArrayList<>(batch);
                    while (all.next()) {
                        rows.add(new Row(all.getInt(1), all.getString(2)));
                        if (rows.size() == batch) {
                            queue.put(rows);
                            rows = new ArrayList<>(batch);
                        }
                    }
                    if (!rows.isEmpty()) {
                        queue.put(rows);
                    }
                }
                for (int at = 0; at < threads; at++) {
                    queue.put(List.of());
                }
            } catch (Exception error) {
                error.printStackTrace();
                System.exit(1);
            }
        });
        reader.start();
        long done = inThreads(thread -> {
            MessageDigest digest = digest();
            long mine = 0;
            try (Connection connection = connect()) {
                for (List<Row> rows; !(rows = queue.take()).isEmpty();) {
                    taking.take(connection, digest, rows);
                    mine += rows.size();
                }
            }
            return mine;
        });
        reader.join();
        return done;
    }

    private interface Taking {
        void take(Connection connection, MessageDigest digest, List<Row> rows) throws Exception;
    }

    private long updateSingly() throws Exception {
        try (Connection reading = connect()) {
            return fromTable(reading, (connection, digest, rows) -> {
                try (PreparedStatement update = connection.prepareStatement("UPDATE bulktest SET hashval = ? WHERE id = ?")) {
                    for (Row row : rows) {
                        update.setString(1, hash(digest, row.text()));
                        update.setInt(2, row.id());
                        update.executeUpdate();
                    }
                }
            });
        }
    }

    private static Taking intoTable(String table) {
        return (connection, digest, rows) -> {
            String text = values("INSERT INTO " + table + " (id, text, hashval) VALUES ", "(?,?,?)", rows.size());
            try (PreparedStatement insert = connection.prepareStatement(text)) {
                int at = 1;
                for (Row row : rows) {
                    insert.setInt(at++, row.id());
                    insert.setString(at++, row.text());
                    insert.setString(at++, hash(digest, row.text()));
                }
                insert.executeUpdate();
            }
        };
    }

    private long updateJoined() throws Exception {
        try (Connection connection = connect(); Connection reading = connect()) {
            run(connection, "DROP TABLE IF EXISTS bulktest_temp",
                "CREATE TABLE bulktest_temp (id INT PRIMARY KEY, text VARCHAR(45), hashval VARCHAR(255))");
            long done = fromTable(reading, intoTable("bulktest_temp"));
            if (postgres) {
                // The reader's transaction ends here.
                reading.rollback();
            }
            run(connection, postgres
                    ? "UPDATE bulktest SET hashval = t.hashval FROM bulktest_temp t WHERE bulktest.id = t.id"
                    : "UPDATE bulktest, bulktest_temp SET bulktest.hashval = bulktest_temp.hashval WHERE bulktest.id = bulktest_temp.id",
                "DROP TABLE bulktest_temp");
            return done;
        }
    }

    private long updateByTable() throws Exception {
        try (Connection reading = connect(); Connection connection = connect()) {
            run(connection, "DROP TABLE IF EXISTS bulktest_new",
                postgres ? "CREATE TABLE bulktest_new (LIKE bulktest INCLUDING ALL)" : "CREATE TABLE bulktest_new LIKE bulktest");
            if (postgres) {
                reading.setAutoCommit(false);
                run(reading, "LOCK TABLE bulktest IN EXCLUSIVE MODE");
            } else {
                run(reading, "LOCK TABLES bulktest READ");
            }
            long done = fromTable(reading, intoTable("bulktest_new"));
            if (postgres) {
                // A serial column's sequence goes with its table unless it is another's.
                run(reading, "ALTER SEQUENCE bulktest_id_seq OWNED BY bulktest_new.id", "TRUNCATE bulktest", "DROP TABLE bulktest",
                    "ALTER TABLE bulktest_new RENAME TO bulktest", "ALTER INDEX bulktest_new_pkey RENAME TO bulktest_pkey");
                reading.commit();
            } else {
                run(reading, "UNLOCK TABLES", "TRUNCATE bulktest", "DROP TABLE bulktest", "RENAME TABLE bulktest_new TO bulktest");
            }
            return done;
        }
    }

    /** Point queries by primary key for `rows` queries in all. */
    private long point() throws Exception {
        long top;
        try (Connection connection = connect(); Statement statement = connection.createStatement();
             ResultSet answer = statement.executeQuery("SELECT MAX(id) FROM bulktest")) {
            answer.next();
            top = answer.getLong(1);
        }
        return inThreads(thread -> {
            SplittableRandom random = new SplittableRandom(thread);
            long count = share(thread + 1) - share(thread);
            try (Connection connection = connect();
                 PreparedStatement query = connection.prepareStatement("SELECT text FROM bulktest WHERE id = ?")) {
                for (long at = 0; at < count; at++) {
                    query.setInt(1, (int) random.nextLong(1, top + 1));
                    try (ResultSet row = query.executeQuery()) {
                        row.next();
                    }
                }
            }
            return count;
        });
    }
}
