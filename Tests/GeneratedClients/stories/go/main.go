// A whole session through the client that openapi-generator makes for Go. scripts/check clients explains the arguments.
package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"

	fetchd "github.com/example/fetchd"
)

func main() {
	url, token, origin, webhook, digest := os.Args[1], os.Args[2], os.Args[3], os.Args[4], os.Args[5]
	configuration := fetchd.NewConfiguration()
	configuration.Servers = fetchd.ServerConfigurations{{URL: url}}
	client := fetchd.NewAPIClient(configuration)
	ctx := context.WithValue(context.Background(), fetchd.ContextAccessToken, token)

	declare(ctx, client, webhook)
	good, missing := submit(ctx, client, origin, digest)
	good, missing = ended(ctx, client, good.Id), ended(ctx, client, missing.Id)
	require(good.State == fetchd.JOBSTATE_SUCCEEDED && good.Failure.Get() == nil, "state: ", good.State)
	require(*good.File.Get().Sha256.Get() == digest && good.Receipt.Get().Status == 200, "receipt")
	file, _, err := client.JobsAPI.GetJobFile(ctx, good.Id).Execute()
	check(err)
	require(digestOf(file) == digest, "the bytes are others")
	failure := missing.Failure.Get()
	require(failure.Code == fetchd.FAILURECODE_BAD_STATUS && *failure.Status.Get() == 404, "failure: ", failure.Code)
	finish := finished(ctx, client)
	require(finish.Data["outcome"] == string(fetchd.BATCHOUTCOME_PARTLY_FAILED), "outcome: ", finish.Data)
	session, _, err := client.SessionsAPI.AcknowledgeSession(ctx, "go").
		Acknowledgement(*fetchd.NewAcknowledgement(finish.Id)).Execute()
	check(err)
	require(session.AcknowledgedThrough == finish.Id, "acknowledged through ", session.AcknowledgedThrough)
	explainMistake(ctx, client)
	_, _, err = client.SessionsAPI.DeleteSession(ctx, "go").Outstanding(fetchd.OUTSTANDINGCHOICE_CANCEL).Execute()
	check(err)
	fmt.Println("a whole session")
}

func declare(ctx context.Context, client *fetchd.APIClient, webhook string) {
	configuration := fetchd.NewSessionConfigurationInput()
	configuration.SetDirectory("go")
	configuration.SetFinishDelaySeconds(0)
	declared, _, err := client.SessionsAPI.DeclareSession(ctx, "go").SessionConfigurationInput(*configuration).Execute()
	check(err)
	require(declared.State == fetchd.SESSIONSTATE_IDLE, "state: ", declared.State)
	endpoint := fetchd.NewWebhookInput(webhook)
	endpoint.Events = []fetchd.EventPattern{fetchd.EVENTPATTERN_SESSION}
	_, _, err = client.WebhooksAPI.DeclareWebhook(ctx, "go", "consumer").WebhookInput(*endpoint).Execute()
	check(err)
}

func submit(ctx context.Context, client *fetchd.APIClient, origin string, digest string) (*fetchd.Job, *fetchd.Job) {
	good, missing := fetchd.NewJobInput(), fetchd.NewJobInput()
	good.SetUrl(origin + "/holiday.jpg")
	good.SetSession("go")
	good.Tags = []string{"holiday"}
	checksum := fetchd.NewChecksumInput()
	checksum.SetAlgorithm(fetchd.CHECKSUMALGORITHM_SHA_256)
	checksum.SetValue(digest)
	good.SetChecksum(*checksum)
	destination := fetchd.NewDestinationInput()
	destination.SetOnConflict(fetchd.CONFLICTRULE_REPLACE)
	good.SetDestination(*destination)
	missing.SetUrl(origin + "/missing.jpg")
	missing.SetSession("go")
	created, _, err := client.JobsAPI.CreateJobs(ctx).IdempotencyKey("go").
		JobsInput(*fetchd.NewJobsInput([]fetchd.JobInput{*good, *missing})).Execute()
	check(err)
	return &created.Jobs[0], &created.Jobs[1]
}

func ended(ctx context.Context, client *fetchd.APIClient, id string) *fetchd.Job {
	for i := 0; i < 20; i++ {
		job, _, err := client.JobsAPI.GetJob(ctx, id).Execute()
		check(err)
		if job.FinishedAt.Get() != nil {
			return job
		}
		tag := fmt.Sprintf("\"%d\"", job.Revision)
		_, answer, err := client.JobsAPI.GetJob(ctx, id).IfNoneMatch(tag).Prefer("wait=5").Execute()
		require(err == nil || answer.StatusCode == 304, err)
	}
	panic("the job has not ended")
}

func finished(ctx context.Context, client *fetchd.APIClient) fetchd.Event {
	for i := 0; i < 20; i++ {
		page, _, err := client.EventsAPI.ListEvents(ctx).Session("go").
			Type_(fetchd.EVENTPATTERN_SESSION_FINISHED).Wait(5).Execute()
		check(err)
		if len(page.Events) > 0 {
			return page.Events[0]
		}
	}
	panic("the session has not finished")
}

func explainMistake(ctx context.Context, client *fetchd.APIClient) {
	job := fetchd.NewJobInput()
	job.SetUrl("ftp://host/file")
	_, _, err := client.JobsAPI.CreateJob(ctx).JobInput(*job).Execute()
	var refusal *fetchd.GenericOpenAPIError
	require(errors.As(err, &refusal), "no typed error: ", err)
	problem, isProblem := refusal.Model().(fetchd.Problem)
	require(isProblem && problem.Status == 422 && problem.GetPointer() == "/url", "problem: ", problem)
}

func digestOf(file *os.File) string {
	hash := sha256.New()
	_, err := io.Copy(hash, file)
	check(err)
	return hex.EncodeToString(hash.Sum(nil))
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func require(holds bool, what ...any) {
	if !holds {
		panic(fmt.Sprint(what...))
	}
}
