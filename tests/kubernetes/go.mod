module brunt.invalid/tests/kubernetes

go 1.25
