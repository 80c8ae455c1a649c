<?php
// story.php URL TOKEN ORIGIN WEBHOOK SHA256
//
// A whole session through the client that openapi-generator makes for PHP. scripts/check clients explains the arguments.

declare(strict_types=1);

require "/usr/share/php/GuzzleHttp/autoload.php";
spl_autoload_register(static fn(string $class) => str_starts_with($class, "Fetchd\\")
    && require __DIR__ . "/client/lib/" . str_replace("\\", "/", substr($class, 7)) . ".php");

use Fetchd\Api\{EventsApi, JobsApi, SessionsApi, WebhooksApi};
use Fetchd\{ApiException, Configuration, ObjectSerializer};
use Fetchd\Model;

[, $url, $token, $origin, $webhook, $sha256] = $argv;

function check(bool $holds, mixed $what): void
{
    if (!$holds) {
        throw new RuntimeException(is_string($what) ? $what : print_r($what, true));
    }
}

function ended(JobsApi $jobs, string $id): Model\Job
{
    for ($try = 0; $try < 20; $try += 1) {
        $job = $jobs->getJob($id);
        if ($job->getFinishedAt() !== null) {
            return $job;
        }
        try {
            $jobs->getJob($id, if_none_match: "\"{$job->getRevision()}\"", prefer: "wait=5");
        } catch (ApiException $unchanged) {
            check($unchanged->getCode() === 304, $unchanged->getMessage());
        }
    }
    throw new RuntimeException("$id did not end");
}

function finished(EventsApi $events): Model\Event
{
    for ($try = 0; $try < 20; $try += 1) {
        $page = $events->listEvents(session: "php", type: Model\EventPattern::SESSION_FINISHED, wait: 5);
        if ($page->getEvents()) {
            return $page->getEvents()[0];
        }
    }
    throw new RuntimeException("session.finished did not come");
}

// The models verify times by the pattern of the description, in the form that this sets.
ObjectSerializer::setDateTimeFormat("Y-m-d\TH:i:s.v\Z");
$configuration = (new Configuration())->setHost($url)->setAccessToken($token);
$jobs = new JobsApi(config: $configuration);
$sessions = new SessionsApi(config: $configuration);

$retry = new Model\RetryPolicyInput(["max_attempts" => 2]);
$declared = $sessions->declareSession("php", session_configuration_input: new Model\SessionConfigurationInput(
    ["directory" => "php", "finish_delay_seconds" => 0, "retry" => $retry],
));
check($declared->getState() === Model\SessionState::IDLE, $declared);
$endpoint = new Model\WebhookInput(["url" => $webhook, "events" => [Model\EventPattern::SESSION]]);
(new WebhooksApi(config: $configuration))->declareWebhook("php", "consumer", $endpoint);
$checksum = new Model\ChecksumInput(["algorithm" => Model\ChecksumAlgorithm::SHA_256, "value" => $sha256]);
$destination = new Model\DestinationInput(["on_conflict" => Model\ConflictRule::REPLACE]);
$created = $jobs->createJobs(new Model\JobsInput(["jobs" => [
    new Model\JobInput([
        "url" => "$origin/holiday.jpg", "session" => "php", "tags" => ["holiday"], "checksum" => $checksum, "destination" => $destination,
    ]),
    new Model\JobInput(["url" => "$origin/missing.jpg", "session" => "php", "connections" => 2]),
]]), idempotency_key: "php");
[$good, $missing] = array_map(static fn(Model\Job $job) => ended($jobs, $job->getId()), $created->getJobs());
check($good->getState() === Model\JobState::SUCCEEDED && $good->getFailure() === null, $good);
check($good->getFile()->getSha256() === $sha256 && $good->getReceipt()->getStatus() === 200, $good);
check(hash_file("sha256", $jobs->getJobFile($good->getId())->getPathname()) === $sha256, "the bytes are others");
$failure = $missing->getFailure();
check($failure->getCode() === Model\FailureCode::BAD_STATUS && $failure->getStatus() === 404, $missing);
$finish = finished(new EventsApi(config: $configuration));
check($finish->getData()["outcome"] === Model\BatchOutcome::PARTLY_FAILED, $finish);
$session = $sessions->acknowledgeSession("php", new Model\Acknowledgement(["through" => $finish->getId()]));
check($session->getAcknowledgedThrough() === $finish->getId(), $session);
try {
    // The client checks the URL itself, so the mistake is one that only the service knows.
    $jobs->createJob(new Model\JobInput(["url" => "http://host/", "session" => "unknown"]));
    throw new RuntimeException("an unknown session was accepted");
} catch (ApiException $refusal) {
    $problem = ObjectSerializer::deserialize(json_decode($refusal->getResponseBody()), Model\Problem::class);
    check($problem->getStatus() === 422 && $problem->getPointer() === "/session", $problem);
}
try {
    $sessions->deleteSession("php", outstanding: Model\OutstandingChoice::CANCEL);
} catch (ApiException $deleted) {
    // The client decodes the body of each 2xx, also of 204, which has none.
    check($deleted->getCode() === 204, $deleted->getMessage());
}
echo "a whole session\n";
