import fetchd.ApiClient;
import fetchd.ApiException;
import fetchd.api.EventsApi;
import fetchd.api.JobsApi;
import fetchd.api.SessionsApi;
import fetchd.api.WebhooksApi;
import fetchd.model.*;
import java.nio.file.Files;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.Set;

/**
 * A whole session through the client that openapi-generator makes for Java. scripts/check clients explains the arguments.
 */
class Story {
    private final JobsApi jobs;
    private final SessionsApi sessions;
    private final EventsApi events;
    private final WebhooksApi webhooks;
    private final ApiClient client = new ApiClient();

    private Story(String url, String token) {
        client.updateBaseUri(url);
        client.setRequestInterceptor(request -> request.header("Authorization", "Bearer " + token));
        jobs = new JobsApi(client);
        sessions = new SessionsApi(client);
        events = new EventsApi(client);
        webhooks = new WebhooksApi(client);
    }

    public static void main(String[] arguments) throws Exception {
        new Story(arguments[0], arguments[1]).run(arguments[2], arguments[3], arguments[4]);
        System.out.println("a whole session");
    }

    private void run(String origin, String webhook, String sha256) throws Exception {
        declare(webhook);
        CreatedJobs created = submit(origin, sha256);
        Job good = ended(created.getJobs().get(0).getId());
        require(good.getState() == JobState.SUCCEEDED && good.getFailure() == null, good);
        require(good.getFile().getSha256().equals(sha256) && good.getReceipt().getStatus() == 200, good);
        byte[] bytes = Files.readAllBytes(jobs.getJobFile(good.getId(), null, null, null, null).toPath());
        byte[] digest = MessageDigest.getInstance("SHA-256").digest(bytes);
        require(HexFormat.of().formatHex(digest).equals(sha256), "the bytes are others");
        Failure failure = ended(created.getJobs().get(1).getId()).getFailure();
        require(failure.getCode() == FailureCode.BAD_STATUS && failure.getStatus() == 404, failure);
        Event finish = finished();
        require(finish.getData().get("outcome").equals(BatchOutcome.PARTLY_FAILED.getValue()), finish);
        Session session = sessions.acknowledgeSession("java", new Acknowledgement().through(finish.getId()));
        require(session.getAcknowledgedThrough().equals(finish.getId()), session);
        explainMistake();
        sessions.deleteSession("java", OutstandingChoice.CANCEL);
    }

    private void declare(String webhook) throws ApiException {
        Session declared = sessions.declareSession(
            "java", null,
            new SessionConfigurationInput()
                .directory("java").finishDelaySeconds(0.0).retry(new RetryPolicyInput().maxAttempts(2)));
        require(declared.getState() == SessionState.IDLE, declared);
        WebhookInput endpoint = new WebhookInput().url(webhook).events(Set.of(EventPattern.SESSION_));
        webhooks.declareWebhook("java", "consumer", endpoint);
    }

    private CreatedJobs submit(String origin, String sha256) throws ApiException {
        JobInput good = new JobInput()
            .url(origin + "/holiday.jpg").session("java").tags(Set.of("holiday"))
            .checksum(new ChecksumInput().algorithm(ChecksumAlgorithm.SHA_256).value(sha256))
            .destination(new DestinationInput().onConflict(ConflictRule.REPLACE));
        JobInput missing = new JobInput().url(origin + "/missing.jpg").session("java");
        return jobs.createJobs(new JobsInput().addJobsItem(good).addJobsItem(missing), "java", null, null);
    }

    private Job ended(String id) throws ApiException {
        for (int round = 0; round < 20; round++) {
            Job job = jobs.getJob(id, null, null, null);
            if (job.getFinishedAt() != null) return job;
            try {
                jobs.getJob(id, "\"" + job.getRevision() + "\"", "wait=5", null);
            } catch (ApiException unchanged) {
                require(unchanged.getCode() == 304, unchanged);
            }
        }
        throw new IllegalStateException(id + " has not ended");
    }

    private Event finished() throws ApiException {
        for (int round = 0; round < 20; round++) {
            EventList page = events.listEvents(null, null, 5, null, "java", null, EventPattern.SESSION_FINISHED, null);
            if (!page.getEvents().isEmpty()) return page.getEvents().get(0);
        }
        throw new IllegalStateException("the session has not finished");
    }

    private void explainMistake() throws Exception {
        try {
            jobs.createJob(new JobInput().url("ftp://host/file"), null, null, null);
        } catch (ApiException refusal) {
            Problem problem = client.getObjectMapper().readValue(refusal.getResponseBody(), Problem.class);
            require(problem.getStatus() == 422 && problem.getPointer().equals("/url"), problem);
            return;
        }
        throw new IllegalStateException("a wrong URL was accepted");
    }

    private static void require(boolean holds, Object what) {
        if (!holds) throw new IllegalStateException(String.valueOf(what));
    }
}
