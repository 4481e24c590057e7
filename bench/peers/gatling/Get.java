import static io.gatling.javaapi.core.CoreDsl.atOnceUsers;
import static io.gatling.javaapi.core.CoreDsl.exec;
import static io.gatling.javaapi.core.CoreDsl.scenario;
import static io.gatling.javaapi.http.HttpDsl.http;
import static io.gatling.javaapi.http.HttpDsl.status;

import io.gatling.javaapi.core.Simulation;
import java.time.Duration;

/** The GET and check of bench/scripts/get.js: each user has a connection, and asks again as soon as it has the answer. */
public final class Get extends Simulation {
    {
        var users = Integer.getInteger("users");
        var seconds = Duration.ofSeconds(Integer.getInteger("seconds"));
        var get = http("get").get(System.getProperty("url")).check(status().is(200));
        setUp(scenario("get").during(seconds).on(exec(get)).injectOpen(atOnceUsers(users)))
            .protocols(http.disableWarmUp());
    }
}
